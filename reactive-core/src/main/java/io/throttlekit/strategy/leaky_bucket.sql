-- The leaky bucket, as DepartureLine.java says it. State: the end of the line as whole microseconds (s1) and ticks (s2),
-- and ticks per microsecond (s3, L). A span or an instant is two numbers, microseconds and ticks; all products come
-- ready-made.
--
-- reserve: L, the longest wait in whole microseconds, cost, cost*T (2)
-- cancel:  L, the departure (2), the end of the line as it is while the departure is the last (2)
-- Replies granted, now, then two numbers: for reserve the end of the line before the step, else after it.
DECLARE
BEGIN
    IF s1 >= now_us THEN
        IF s3 <> a1 THEN
            -- Written under another rate: the same instant in our ticks, or the first one after it.
            s2 := div(s2::numeric * a1 + (s3 - 1), s3::numeric);
            IF s2 = a1 THEN
                s1 := s1 + 1;
                s2 := 0;
            END IF;
            s3 := a1;
        END IF;
    ELSE
        s1 := now_us;
        s2 := 0;
        s3 := a1;
    END IF;
    IF op = 'reserve' AND (s1 < now_us + a2 OR (s1 = now_us + a2 AND s2 = 0)) THEN
        reply := ARRAY[a3, now_us, s1, s2];
        s1 := s1 + a4;
        s2 := s2 + a5;
        IF s2 >= a1 THEN
            s1 := s1 + 1;
            s2 := s2 - a1;
        END IF;
        expires_us := s1 + CASE WHEN s2 > 0 THEN 1 ELSE 0 END;
    ELSIF op = 'cancel' AND s1 = a4 AND s2 = a5 AND (a2 > now_us OR (a2 = now_us AND a3 > 0)) THEN
        reply := ARRAY[1, now_us, a2, a3];
        s1 := a2;
        s2 := a3;
        expires_us := s1 + CASE WHEN s2 > 0 THEN 1 ELSE 0 END;
    ELSE
        reply := ARRAY[0, now_us, s1, s2];
    END IF;
END;
