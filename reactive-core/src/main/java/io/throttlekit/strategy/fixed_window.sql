-- A count in equal windows, as Counter.java says it. State: start of the window in ms (s1), count (s2).
--
-- check:         period, anchor, limit, min, max
-- look:          period, anchor, limit, and two that do not count
-- refund:        period, anchor, limit, cost, 0
-- refund_window: period, anchor, limit, cost, reset of the window it is for
-- Replies granted, now, start and count after the step.
DECLARE
    -- Divisions round towards zero: these are corrected below it.
    since CONSTANT bigint := now_us / 1000 - CASE WHEN now_us % 1000 < 0 THEN 1 ELSE 0 END - a2;
    start CONSTANT bigint := a2 + (since / a1 - CASE WHEN since % a1 < 0 THEN 1 ELSE 0 END) * a1;
    granted bigint := 0;
BEGIN
    IF s1 >= start THEN
        -- This window, or a newer one that is kept.
    ELSE
        s1 := start;
        s2 := 0;
    END IF;
    IF op = 'check' THEN
        granted := least(a5, a3 - s2);
        IF granted < a4 THEN
            granted := 0;
        ELSE
            s2 := s2 + granted;
        END IF;
    ELSIF op = 'refund' OR (op = 'refund_window' AND a5 = s1 + a1) THEN
        granted := least(s2, a4);
        s2 := s2 - granted;
    END IF;
    IF granted > 0 THEN
        expires_us := (s1 + a1) * 1000;
    END IF;
    reply := ARRAY[granted, now_us, s1, s2];
END;
