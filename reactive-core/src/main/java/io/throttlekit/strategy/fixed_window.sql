-- A count in equal windows, as Counter.java says it. State: start of the window in ms, count.
--
-- check:         period, anchor, limit, min, max
-- look:          period, anchor, limit, and two that do not count
-- refund:        period, anchor, limit, cost, 0
-- refund_window: period, anchor, limit, cost, reset of the window it is for
-- Replies granted, now, start and count after the step.
DECLARE
    period CONSTANT bigint := a[1];
    -- Divisions round towards zero: these are corrected below it.
    ms CONSTANT bigint := now_us / 1000 - CASE WHEN now_us % 1000 < 0 THEN 1 ELSE 0 END;
    off CONSTANT bigint := ms - a[2];
    start bigint := a[2] + (off / period - CASE WHEN off % period < 0 THEN 1 ELSE 0 END) * period;
    units bigint := 0;
    granted bigint := 0;
BEGIN
    IF state IS NOT NULL AND state[1] >= start THEN
        start := state[1];
        units := state[2];
    END IF;
    IF op = 'check' THEN
        IF least(a[5], a[3] - units) >= a[4] THEN
            granted := least(a[5], a[3] - units);
            units := units + granted;
            changed := true;
        END IF;
    ELSIF op = 'refund' OR (op = 'refund_window' AND a[5] = start + period) THEN
        granted := least(units, a[4]);
        units := units - granted;
        changed := granted > 0;
    END IF;
    IF changed THEN
        next := ARRAY[start, units];
        expires_us := (start + period) * 1000;
    END IF;
    reply := ARRAY[granted, now_us, start, units];
END;
