-- A count in calendar periods, as Counter.java says it. State: start of the period in ms, count. A server knows no
-- time zones: the client sends the boundaries around its own clock.
--
-- check:         limit, min, max, then the starts of four periods and the end of the last, in ms
-- look:          the same, where the second and the third do not count
-- refund:        limit, cost, 0, boundaries
-- refund_window: limit, cost, reset of the period it is for, boundaries
-- Replies granted, now, start and count after the step; -1 and now when no period that was sent holds now.
DECLARE
    ms CONSTANT bigint := now_us / 1000 - CASE WHEN now_us % 1000 < 0 THEN 1 ELSE 0 END;
    start bigint;
    reset bigint;
    units bigint := 0;
    granted bigint := 0;
BEGIN
    FOR i IN 4..7 LOOP
        IF ms >= a[i] AND ms < a[i + 1] THEN
            start := a[i];
            reset := a[i + 1];
        END IF;
    END LOOP;
    IF start IS NULL THEN
        reply := ARRAY[-1, now_us];
    ELSE
        IF state IS NOT NULL AND state[1] >= start THEN
            IF state[1] > start THEN
                -- A newer period is kept. Beyond what was sent it ends when its row says.
                start := state[1];
                reset := old_expires_us / 1000;
                FOR i IN REVERSE 7..4 LOOP
                    IF start >= a[i] AND start < a[i + 1] THEN
                        reset := a[i + 1];
                    END IF;
                END LOOP;
            END IF;
            units := state[2];
        END IF;
        IF op = 'check' THEN
            IF least(a[3], a[1] - units) >= a[2] THEN
                granted := least(a[3], a[1] - units);
                units := units + granted;
                changed := true;
            END IF;
        ELSIF op = 'refund' OR (op = 'refund_window' AND a[3] = reset) THEN
            granted := least(units, a[2]);
            units := units - granted;
            changed := granted > 0;
        END IF;
        IF changed THEN
            next := ARRAY[start, units];
            expires_us := reset * 1000;
        END IF;
        reply := ARRAY[granted, now_us, start, units];
    END IF;
END;
