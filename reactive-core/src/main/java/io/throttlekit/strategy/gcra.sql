-- The generic cell rate algorithm, as Gcra.java says it. State: TAT as whole microseconds, ticks, and ticks per
-- microsecond (L). A span is two numbers, microseconds and ticks; all products come ready-made.
--
-- check:  L, tau (2), min, most, min*T (2), then 2^i*T (2) for i = 0, 1, ... as far as the range needs them
-- look:   L
-- refund: L, cost*T (2)
-- Replies granted, now, TAT after the step (2).
DECLARE
    per_micro CONSTANT bigint := a[1];
    tat bigint;
    part bigint;
    scaled numeric;
    granted bigint := 0;
    top bigint;
    top_part bigint;
    more bigint;
    more_part bigint;
    step bigint := 1;
    i integer := 0;
BEGIN
    IF state IS NULL THEN
        tat := now_us;
        part := 0;
    ELSE
        tat := state[1];
        part := state[2];
        IF state[3] <> per_micro AND part > 0 THEN
            -- Written under another rate: the same instant in our ticks, or the first one after it.
            scaled := div(part::numeric * per_micro + (state[3] - 1), state[3]::numeric);
            IF scaled = per_micro THEN
                tat := tat + 1;
                part := 0;
            ELSE
                part := scaled;
            END IF;
        END IF;
    END IF;
    IF op = 'refund' THEN
        IF tat > now_us OR (tat = now_us AND part > 0) THEN
            tat := tat - a[2];
            part := part - a[3];
            IF part < 0 THEN
                tat := tat - 1;
                part := part + per_micro;
            END IF;
            granted := 1;
            changed := true;
            IF tat > now_us OR (tat = now_us AND part > 0) THEN
                next := ARRAY[tat, part, per_micro];
            ELSE
                next := NULL;
            END IF;
        END IF;
    ELSE
        IF tat < now_us THEN
            tat := now_us;
            part := 0;
        END IF;
        IF op = 'check' THEN
            -- TAT may be moved as far as this: now + tau.
            top := now_us + a[2];
            top_part := a[3];
            more := tat + a[6];
            more_part := part + a[7];
            IF more_part >= per_micro THEN
                more := more + 1;
                more_part := more_part - per_micro;
            END IF;
            IF more < top OR (more = top AND more_part <= top_part) THEN
                granted := a[4];
                tat := more;
                part := more_part;
                WHILE step <= a[5] - a[4] LOOP
                    step := step * 2;
                    i := i + 1;
                END LOOP;
                WHILE i > 0 LOOP
                    i := i - 1;
                    step := step / 2;
                    IF granted + step <= a[5] THEN
                        more := tat + a[8 + 2 * i];
                        more_part := part + a[9 + 2 * i];
                        IF more_part >= per_micro THEN
                            more := more + 1;
                            more_part := more_part - per_micro;
                        END IF;
                        IF more < top OR (more = top AND more_part <= top_part) THEN
                            granted := granted + step;
                            tat := more;
                            part := more_part;
                        END IF;
                    END IF;
                END LOOP;
                changed := true;
                next := ARRAY[tat, part, per_micro];
            END IF;
        END IF;
    END IF;
    IF changed THEN
        expires_us := tat + CASE WHEN part > 0 THEN 1 ELSE 0 END;
    END IF;
    reply := ARRAY[granted, now_us, tat, part];
END;
