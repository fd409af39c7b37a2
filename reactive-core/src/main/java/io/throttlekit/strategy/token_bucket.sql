-- The token bucket, as TokenBucket.java says it. State: grains (1/D of a token), D, and the instant they are of.
--
-- check:  D, grains per microsecond, capacity, time to fill, min, max
-- look:   the same, where the last two do not count
-- refund: the same, where the fifth is the cost
-- Replies granted, now, at, whole tokens and grains at `at` after the step.
DECLARE
    per_token CONSTANT bigint := a[1];
    per_micro CONSTANT bigint := a[2];
    capacity CONSTANT bigint := a[3];
    top CONSTANT bigint := capacity * per_token;
    grains bigint := top;
    at_us bigint := now_us;
    granted bigint := 0;
BEGIN
    IF state IS NOT NULL THEN
        grains := state[1];
        IF state[2] <> per_token THEN
            -- Written under another rate: as many of our grains, rounded down.
            grains := least(top::numeric, div(grains::numeric * per_token, state[2]::numeric));
        END IF;
        IF now_us <= state[3] THEN
            at_us := state[3];
            grains := least(top, grains);
        ELSIF grains >= top OR now_us - state[3] > (top - grains - 1) / per_micro THEN
            grains := top;
        ELSE
            grains := grains + (now_us - state[3]) * per_micro;
        END IF;
    END IF;
    IF op = 'check' THEN
        IF grains / per_token >= a[5] THEN
            granted := least(a[6], grains / per_token);
            grains := grains - granted * per_token;
            changed := true;
        END IF;
    ELSIF op = 'refund' AND state IS NOT NULL AND grains < top THEN
        granted := a[5];
        IF a[5] >= capacity OR top - grains <= a[5] * per_token THEN
            grains := top;
        ELSE
            grains := grains + a[5] * per_token;
        END IF;
        changed := true;
    END IF;
    IF changed THEN
        next := ARRAY[grains, per_token, at_us];
        expires_us := at_us;
        IF grains < top THEN
            expires_us := at_us + (top - grains - 1) / per_micro + 1;
        END IF;
    END IF;
    reply := ARRAY[granted, now_us, at_us, grains / per_token, grains % per_token];
END;
