-- The token bucket, as TokenBucket.java says it. State: grains (s1, 1/D of a token), D (s2), and the instant they are
-- of (s3).
--
-- check:  D, grains per microsecond, capacity, time to fill, min, max
-- look:   the same, where the last two do not count
-- refund: the same, where the fifth is the cost
-- Replies granted, now, at, whole tokens and grains at `at` after the step.
DECLARE
    top CONSTANT bigint := a3 * a1;
    absent CONSTANT boolean := s1 IS NULL;
    granted bigint := 0;
BEGIN
    IF absent THEN
        s1 := top;
        s2 := a1;
        s3 := now_us;
    ELSE
        IF s2 <> a1 THEN
            -- Written under another rate: as many of our grains, rounded down.
            s1 := least(top::numeric, div(s1::numeric * a1, s2::numeric));
            s2 := a1;
        END IF;
        IF now_us <= s3 THEN
            s1 := least(top, s1);
        ELSE
            IF s1 >= top OR now_us - s3 > (top - s1 - 1) / a2 THEN
                s1 := top;
            ELSE
                s1 := s1 + (now_us - s3) * a2;
            END IF;
            s3 := now_us;
        END IF;
    END IF;
    IF op = 'check' THEN
        IF s1 / a1 >= a5 THEN
            granted := least(a6, s1 / a1);
            s1 := s1 - granted * a1;
        END IF;
    ELSIF op = 'refund' AND NOT absent AND s1 < top THEN
        granted := a5;
        IF a5 >= a3 OR top - s1 <= a5 * a1 THEN
            s1 := top;
        ELSE
            s1 := s1 + a5 * a1;
        END IF;
    END IF;
    IF granted > 0 THEN
        expires_us := CASE WHEN s1 < top THEN s3 + (top - s1 - 1) / a2 + 1 ELSE s3 END;
    END IF;
    reply := ARRAY[granted, now_us, s3, s1 / a1, s1 % a1];
END;
