-- The generic cell rate algorithm, as Gcra.java says it. State: TAT as whole microseconds (s1) and ticks (s2), and ticks
-- per microsecond (s3, L). A state expires at TAT, rounded up to microseconds, so that is known from there: a usual allow
-- writes nothing else. A span is two numbers, microseconds and ticks; all products come ready-made.
--
-- check:  L, tau (2), min, most, min*T (2), then 2^i*T (2) for i = 0, 1, ... as far as the range needs them
-- look:   L
-- refund: L, cost*T (2)
-- Replies granted, now, TAT after the step (2).
--
-- Usual is a check of one cost at a rate of whole microseconds (L = 1), which needs no ticks: tau - min*T, min, min*T.
-- allow:
started := clock_timestamp();
now_us := (extract(epoch FROM started) * 1000000)::bigint;
UPDATE {table} t SET expires = greatest(t.expires, now_us) + u3
    WHERE t.key = k AND t.kind = 'gcra' AND t.s3 = 1 AND t.expires <= now_us + u1
        AND clock_timestamp() < started + interval '1 ms'
    RETURNING t.expires INTO s1;
IF FOUND THEN
    RETURN ARRAY[u2, now_us, s1, 0];
END IF;
-- deny:
SELECT t.expires INTO s1 FROM {table} t WHERE t.key = k AND t.kind = 'gcra' AND t.s3 = 1;
now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
IF s1 > now_us + u1 THEN
    RETURN ARRAY[0, now_us, s1, 0];
END IF;
-- else 'gcra', 'check', 1, u1 + u3, 0, u2, u2, u3, 0:
DECLARE
    granted bigint;
    carry bigint;
    step bigint;
BEGIN
    IF s1 IS NOT NULL THEN
        s1 := old_expires_us - CASE WHEN s2 > 0 THEN 1 ELSE 0 END;
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
    IF op = 'check' THEN
        s1 := s1 + a6;
        s2 := s2 + a7;
        IF s2 >= a1 THEN
            s1 := s1 + 1;
            s2 := s2 - a1;
        END IF;
        -- TAT may be moved as far as now + tau.
        IF s1 < now_us + a2 OR (s1 = now_us + a2 AND s2 <= a3) THEN
            IF a5 > a4 THEN
                granted := a4;
                -- As many more as fit, the largest power of two first.
                FOR i IN REVERSE array_length(a, 1) / 2 - 4 .. 0 LOOP
                    step := 1::bigint << i;
                    carry := (s2 + a[9 + 2 * i]) / a1;
                    IF granted + step <= a5 AND (s1 + a[8 + 2 * i] + carry < now_us + a2
                            OR (s1 + a[8 + 2 * i] + carry = now_us + a2 AND s2 + a[9 + 2 * i] - carry * a1 <= a3)) THEN
                        granted := granted + step;
                        s1 := s1 + a[8 + 2 * i] + carry;
                        s2 := s2 + a[9 + 2 * i] - carry * a1;
                    END IF;
                END LOOP;
            END IF;
            expires_us := s1 + CASE WHEN s2 > 0 THEN 1 ELSE 0 END;
            reply := ARRAY[coalesce(granted, a4), now_us, s1, s2];
        ELSE
            -- Denied: back to where it was.
            IF s2 < a7 THEN
                s1 := s1 - 1;
                s2 := s2 + a1;
            END IF;
            reply := ARRAY[0, now_us, s1 - a6, s2 - a7];
        END IF;
    ELSIF op = 'refund' AND (s1 > now_us OR s2 > 0) THEN
        s1 := s1 - a2;
        s2 := s2 - a3;
        IF s2 < 0 THEN
            s1 := s1 - 1;
            s2 := s2 + a1;
        END IF;
        reply := ARRAY[1, now_us, s1, s2];
        expires_us := s1 + CASE WHEN s2 > 0 THEN 1 ELSE 0 END;
        IF expires_us <= now_us THEN
            s1 := NULL;
        END IF;
    ELSE
        reply := ARRAY[0, now_us, s1, s2];
    END IF;
END;
