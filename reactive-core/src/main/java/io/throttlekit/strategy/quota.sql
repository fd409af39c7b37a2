-- A count in calendar periods, as Counter.java says it. State: start of the period in ms (s1), count (s2). A server
-- knows no time zones: the client sends the boundaries around its own clock.
--
-- check:         limit, min, max, then the starts of four periods and the end of the last, in ms
-- look:          the same, where the second and the third do not count
-- refund:        limit, cost, 0, boundaries
-- refund_window: limit, cost, reset of the period it is for, boundaries
-- Replies granted, now, start and count after the step; -1 and now when no period that was sent holds now.
DECLARE
    ms CONSTANT bigint := now_us / 1000 - CASE WHEN now_us % 1000 < 0 THEN 1 ELSE 0 END;
    start CONSTANT bigint := CASE WHEN ms < a4 THEN NULL WHEN ms < a5 THEN a4 WHEN ms < a6 THEN a5 WHEN ms < a7 THEN a6
        WHEN ms < a8 THEN a7 END;
    reset bigint;
    granted bigint := 0;
BEGIN
    IF start IS NULL THEN
        reply := ARRAY[-1, now_us];
    ELSE
        IF s1 >= start THEN
            -- This period, or a newer one that is kept.
        ELSE
            s1 := start;
            s2 := 0;
        END IF;
        -- Beyond what was sent a period ends when its row says.
        reset := CASE WHEN s1 < a5 THEN a5 WHEN s1 < a6 THEN a6 WHEN s1 < a7 THEN a7 WHEN s1 < a8 THEN a8
            ELSE old_expires_us / 1000 END;
        IF op = 'check' THEN
            granted := least(a3, a1 - s2);
            IF granted < a2 THEN
                granted := 0;
            ELSE
                s2 := s2 + granted;
            END IF;
        ELSIF op = 'refund' OR (op = 'refund_window' AND a3 = reset) THEN
            granted := least(s2, a2);
            s2 := s2 - granted;
        END IF;
        IF granted > 0 THEN
            expires_us := reset * 1000;
        END IF;
        reply := ARRAY[granted, now_us, s1, s2];
    END IF;
END;
