CREATE TABLE IF NOT EXISTS "throttlekit" (
    key bytea PRIMARY KEY,
    kind text NOT NULL,
    state bigint[],
    code bytea,
    expires bigint NOT NULL,
    sweep bigint NOT NULL
) WITH (fillfactor = 70);

CREATE OR REPLACE FUNCTION "throttlekit_gcra_98ca4ad7"(k bytea, kind_in text, clock_us bigint, op text, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    old_kind text;
    old_state bigint[];
    old_expires_us bigint;
    present boolean;
    locked boolean := false;
    server_us bigint;
    now_us bigint;
    state bigint[];
    changed boolean;
    next bigint[];
    expires_us bigint;
    sweep_us bigint;
    reply bigint[];
BEGIN
    LOOP
        IF locked THEN
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k FOR UPDATE;
        ELSE
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k;
        END IF;
        present := FOUND;
        server_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        now_us := coalesce(clock_us, server_us);
        IF NOT present OR old_expires_us <= now_us THEN
            state := NULL;
        ELSIF old_state IS NULL OR old_kind <> kind_in THEN
            RAISE EXCEPTION 'the key holds % of %, not % of a program', old_kind,
                CASE WHEN old_state IS NULL THEN 'the function path' ELSE 'a program' END, kind_in
                USING ERRCODE = 'TK409';
        ELSE
            state := old_state;
        END IF;
        changed := false;
        next := NULL;
        -- The generic cell rate algorithm, as Gcra.java says it. State: TAT as whole microseconds, ticks, and ticks per
        -- microsecond (L). A span is two numbers, microseconds and ticks; all products come ready-made.
        --
        -- check:  L, tau (2), min, most, min·T (2), then 2^i·T (2) for i = 0, 1, … as far as the range needs them
        -- look:   L
        -- refund: L, cost·T (2)
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
        IF NOT changed THEN
            RETURN reply;
        END IF;
        IF next IS NOT NULL THEN
            sweep_us := expires_us;
            IF clock_us IS NOT NULL THEN
                sweep_us := greatest(sweep_us, server_us + 3600000000);
            END IF;
        END IF;
        IF present AND next IS NULL THEN
            DELETE FROM "throttlekit" t WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF present THEN
            UPDATE "throttlekit" t SET kind = kind_in, state = next, code = NULL, expires = expires_us,
                sweep = sweep_us WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF next IS NULL THEN
            RETURN reply;
        ELSE
            INSERT INTO "throttlekit" (key, kind, state, expires, sweep)
                VALUES (k, kind_in, next, expires_us, sweep_us) ON CONFLICT (key) DO NOTHING;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        locked := true;
    END LOOP;
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_token_bucket_7d9d6e95"(k bytea, kind_in text, clock_us bigint, op text, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    old_kind text;
    old_state bigint[];
    old_expires_us bigint;
    present boolean;
    locked boolean := false;
    server_us bigint;
    now_us bigint;
    state bigint[];
    changed boolean;
    next bigint[];
    expires_us bigint;
    sweep_us bigint;
    reply bigint[];
BEGIN
    LOOP
        IF locked THEN
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k FOR UPDATE;
        ELSE
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k;
        END IF;
        present := FOUND;
        server_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        now_us := coalesce(clock_us, server_us);
        IF NOT present OR old_expires_us <= now_us THEN
            state := NULL;
        ELSIF old_state IS NULL OR old_kind <> kind_in THEN
            RAISE EXCEPTION 'the key holds % of %, not % of a program', old_kind,
                CASE WHEN old_state IS NULL THEN 'the function path' ELSE 'a program' END, kind_in
                USING ERRCODE = 'TK409';
        ELSE
            state := old_state;
        END IF;
        changed := false;
        next := NULL;
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
        IF NOT changed THEN
            RETURN reply;
        END IF;
        IF next IS NOT NULL THEN
            sweep_us := expires_us;
            IF clock_us IS NOT NULL THEN
                sweep_us := greatest(sweep_us, server_us + 3600000000);
            END IF;
        END IF;
        IF present AND next IS NULL THEN
            DELETE FROM "throttlekit" t WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF present THEN
            UPDATE "throttlekit" t SET kind = kind_in, state = next, code = NULL, expires = expires_us,
                sweep = sweep_us WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF next IS NULL THEN
            RETURN reply;
        ELSE
            INSERT INTO "throttlekit" (key, kind, state, expires, sweep)
                VALUES (k, kind_in, next, expires_us, sweep_us) ON CONFLICT (key) DO NOTHING;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        locked := true;
    END LOOP;
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_fixed_window_dd9c04af"(k bytea, kind_in text, clock_us bigint, op text, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    old_kind text;
    old_state bigint[];
    old_expires_us bigint;
    present boolean;
    locked boolean := false;
    server_us bigint;
    now_us bigint;
    state bigint[];
    changed boolean;
    next bigint[];
    expires_us bigint;
    sweep_us bigint;
    reply bigint[];
BEGIN
    LOOP
        IF locked THEN
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k FOR UPDATE;
        ELSE
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k;
        END IF;
        present := FOUND;
        server_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        now_us := coalesce(clock_us, server_us);
        IF NOT present OR old_expires_us <= now_us THEN
            state := NULL;
        ELSIF old_state IS NULL OR old_kind <> kind_in THEN
            RAISE EXCEPTION 'the key holds % of %, not % of a program', old_kind,
                CASE WHEN old_state IS NULL THEN 'the function path' ELSE 'a program' END, kind_in
                USING ERRCODE = 'TK409';
        ELSE
            state := old_state;
        END IF;
        changed := false;
        next := NULL;
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
        IF NOT changed THEN
            RETURN reply;
        END IF;
        IF next IS NOT NULL THEN
            sweep_us := expires_us;
            IF clock_us IS NOT NULL THEN
                sweep_us := greatest(sweep_us, server_us + 3600000000);
            END IF;
        END IF;
        IF present AND next IS NULL THEN
            DELETE FROM "throttlekit" t WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF present THEN
            UPDATE "throttlekit" t SET kind = kind_in, state = next, code = NULL, expires = expires_us,
                sweep = sweep_us WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF next IS NULL THEN
            RETURN reply;
        ELSE
            INSERT INTO "throttlekit" (key, kind, state, expires, sweep)
                VALUES (k, kind_in, next, expires_us, sweep_us) ON CONFLICT (key) DO NOTHING;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        locked := true;
    END LOOP;
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_quota_60b9174a"(k bytea, kind_in text, clock_us bigint, op text, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    old_kind text;
    old_state bigint[];
    old_expires_us bigint;
    present boolean;
    locked boolean := false;
    server_us bigint;
    now_us bigint;
    state bigint[];
    changed boolean;
    next bigint[];
    expires_us bigint;
    sweep_us bigint;
    reply bigint[];
BEGIN
    LOOP
        IF locked THEN
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k FOR UPDATE;
        ELSE
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k;
        END IF;
        present := FOUND;
        server_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        now_us := coalesce(clock_us, server_us);
        IF NOT present OR old_expires_us <= now_us THEN
            state := NULL;
        ELSIF old_state IS NULL OR old_kind <> kind_in THEN
            RAISE EXCEPTION 'the key holds % of %, not % of a program', old_kind,
                CASE WHEN old_state IS NULL THEN 'the function path' ELSE 'a program' END, kind_in
                USING ERRCODE = 'TK409';
        ELSE
            state := old_state;
        END IF;
        changed := false;
        next := NULL;
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
        IF NOT changed THEN
            RETURN reply;
        END IF;
        IF next IS NOT NULL THEN
            sweep_us := expires_us;
            IF clock_us IS NOT NULL THEN
                sweep_us := greatest(sweep_us, server_us + 3600000000);
            END IF;
        END IF;
        IF present AND next IS NULL THEN
            DELETE FROM "throttlekit" t WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF present THEN
            UPDATE "throttlekit" t SET kind = kind_in, state = next, code = NULL, expires = expires_us,
                sweep = sweep_us WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF next IS NULL THEN
            RETURN reply;
        ELSE
            INSERT INTO "throttlekit" (key, kind, state, expires, sweep)
                VALUES (k, kind_in, next, expires_us, sweep_us) ON CONFLICT (key) DO NOTHING;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        locked := true;
    END LOOP;
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_sliding_window_990ee79e"(k bytea, kind_in text, clock_us bigint, op text, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    old_kind text;
    old_state bigint[];
    old_expires_us bigint;
    present boolean;
    locked boolean := false;
    server_us bigint;
    now_us bigint;
    state bigint[];
    changed boolean;
    next bigint[];
    expires_us bigint;
    sweep_us bigint;
    reply bigint[];
BEGIN
    LOOP
        IF locked THEN
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k FOR UPDATE;
        ELSE
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k;
        END IF;
        present := FOUND;
        server_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        now_us := coalesce(clock_us, server_us);
        IF NOT present OR old_expires_us <= now_us THEN
            state := NULL;
        ELSIF old_state IS NULL OR old_kind <> kind_in THEN
            RAISE EXCEPTION 'the key holds % of %, not % of a program', old_kind,
                CASE WHEN old_state IS NULL THEN 'the function path' ELSE 'a program' END, kind_in
                USING ERRCODE = 'TK409';
        ELSE
            state := old_state;
        END IF;
        changed := false;
        next := NULL;
        -- The sliding window over buckets, as SlidingWindow.java says it. Time counts in 1/S ms, so bucket c starts at c·W.
        -- State: W, newest bucket, then the counts of that bucket and of the S before it.
        --
        -- check:    W, S, limit, min, max, the x to look for
        -- look:     the same, where min and max do not count
        -- forecast: W, S, limit
        -- refund:   W, S, limit, cost
        -- Replies granted, now, tick, full and old after the step; then for each x that it looked for (one, or in a forecast
        -- limit − available − 1 and 0) tick, full and old of the first bucket whose full is at most x.
        DECLARE
            w CONSTANT bigint := a[1];
            s CONSTANT integer := a[2];
            most CONSTANT bigint := a[3];
            ms CONSTANT bigint := now_us / 1000 - CASE WHEN now_us % 1000 < 0 THEN 1 ELSE 0 END;
            off bigint := ms * s;
            tick bigint := off / w - CASE WHEN off % w < 0 THEN 1 ELSE 0 END;
            -- The counts of bucket `tick` and of those before it: count i + 1 is bucket tick − i.
            counts bigint[];
            behind integer;
            total bigint := 0;
            old bigint;
            over bigint;
            available bigint;
            granted bigint := 0;
            x bigint;
            b_tick bigint;
            b_total bigint;
            b_old bigint;
        BEGIN
            IF state IS NOT NULL AND state[1] = w AND array_length(state, 1) = s + 3 THEN
                tick := greatest(tick, state[2]);
                behind := least(tick - state[2], s + 1);
                IF behind = 0 THEN
                    counts := state[3 : s + 3];
                ELSE
                    counts := array_fill(0::bigint, ARRAY[behind]) || state[3 : s + 3 - behind];
                END IF;
            ELSE
                counts := array_fill(0::bigint, ARRAY[s + 1]);
            END IF;
            FOR i IN 1..s LOOP
                total := total + counts[i];
            END LOOP;
            old := counts[s + 1];
            over := greatest(0, off - tick * w);
            available := greatest(0, most - total - (old * (w - over) + w - 1) / w);
            IF op = 'check' THEN
                IF least(a[5], available) >= a[4] THEN
                    granted := least(a[5], available);
                    counts[1] := counts[1] + granted;
                    total := total + granted;
                    changed := true;
                END IF;
            ELSIF op = 'refund' AND counts[1] > 0 THEN
                granted := least(a[4], counts[1]);
                counts[1] := counts[1] - granted;
                total := total - granted;
                changed := true;
            END IF;
            IF changed THEN
                next := ARRAY[w, tick] || counts;
                off := (tick + 1) * w;
                expires_us := (off / s + CASE WHEN off % s > 0 THEN 1 ELSE 0 END + w) * 1000;
            END IF;
            reply := ARRAY[granted, now_us, tick, total, old];
            IF op <> 'refund' THEN
                FOR turn IN 1..CASE WHEN op = 'forecast' THEN 2 ELSE 1 END LOOP
                    IF op <> 'forecast' THEN
                        x := a[6];
                    ELSIF turn = 1 THEN
                        x := greatest(0, most - available - 1);
                    ELSE
                        x := 0;
                    END IF;
                    b_tick := tick;
                    b_total := total;
                    b_old := old;
                    -- From one bucket to the next, the oldest of the full ones begins to fade.
                    WHILE b_total > x LOOP
                        b_old := counts[s - (b_tick - tick)];
                        b_total := b_total - b_old;
                        b_tick := b_tick + 1;
                    END LOOP;
                    reply := reply || ARRAY[b_tick, b_total, b_old];
                END LOOP;
            END IF;
        END;
        IF NOT changed THEN
            RETURN reply;
        END IF;
        IF next IS NOT NULL THEN
            sweep_us := expires_us;
            IF clock_us IS NOT NULL THEN
                sweep_us := greatest(sweep_us, server_us + 3600000000);
            END IF;
        END IF;
        IF present AND next IS NULL THEN
            DELETE FROM "throttlekit" t WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF present THEN
            UPDATE "throttlekit" t SET kind = kind_in, state = next, code = NULL, expires = expires_us,
                sweep = sweep_us WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF next IS NULL THEN
            RETURN reply;
        ELSE
            INSERT INTO "throttlekit" (key, kind, state, expires, sweep)
                VALUES (k, kind_in, next, expires_us, sweep_us) ON CONFLICT (key) DO NOTHING;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        locked := true;
    END LOOP;
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_sliding_window_log_57d455ab"(k bytea, kind_in text, clock_us bigint, op text, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    old_kind text;
    old_state bigint[];
    old_expires_us bigint;
    present boolean;
    locked boolean := false;
    server_us bigint;
    now_us bigint;
    state bigint[];
    changed boolean;
    next bigint[];
    expires_us bigint;
    sweep_us bigint;
    reply bigint[];
BEGIN
    LOOP
        IF locked THEN
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k FOR UPDATE;
        ELSE
            SELECT t.kind, t.state, t.expires INTO old_kind, old_state, old_expires_us
                FROM "throttlekit" t WHERE t.key = k;
        END IF;
        present := FOUND;
        server_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        now_us := coalesce(clock_us, server_us);
        IF NOT present OR old_expires_us <= now_us THEN
            state := NULL;
        ELSIF old_state IS NULL OR old_kind <> kind_in THEN
            RAISE EXCEPTION 'the key holds % of %, not % of a program', old_kind,
                CASE WHEN old_state IS NULL THEN 'the function path' ELSE 'a program' END, kind_in
                USING ERRCODE = 'TK409';
        ELSE
            state := old_state;
        END IF;
        changed := false;
        next := NULL;
        -- The sliding window over stamps, as SlidingWindowLog.java says it. State: the units of all stamps that were dropped,
        -- then runs of equal stamps, oldest first: the stamp in ms, and the units up to and with its run. So neither an allow
        -- nor a denial looks at more than the runs it drops.
        --
        -- check, look: window, limit, min, max (min alone counts for a look)
        -- refund:      window, limit, cost, 0
        -- Replies granted, now, at, units, oldest, newest and k-th live stamp after the step, where
        -- k = clamp(units + min − limit, 1, units); without stamps the last three are `at`.
        DECLARE
            span CONSTANT bigint := a[1];
            at_ms bigint := now_us / 1000 - CASE WHEN now_us % 1000 < 0 THEN 1 ELSE 0 END;
            base bigint := 0;
            -- Places in `log` of the first and of the last live run; no run is live when first > last.
            log bigint[] := '{}';
            first integer := 1;
            last integer := -1;
            units bigint := 0;
            granted bigint := 0;
            wanted bigint;
            low integer;
            high integer;
            middle integer;
        BEGIN
            IF state IS NOT NULL THEN
                base := state[1];
                log := state[2 : ];
                last := array_length(log, 1) - 1;
                at_ms := greatest(at_ms, log[last]);
                WHILE first <= last AND log[first] <= at_ms - span LOOP
                    base := log[first + 1];
                    first := first + 2;
                END LOOP;
                IF first <= last THEN
                    units := log[last + 1] - base;
                END IF;
            END IF;
            IF op = 'check' THEN
                IF least(a[4], a[2] - units) >= a[3] THEN
                    granted := least(a[4], a[2] - units);
                    IF first > last THEN
                        log := ARRAY[at_ms, granted];
                        base := 0;
                        last := 1;
                    ELSIF log[last] = at_ms THEN
                        log := log[first : ];
                        last := last - first + 1;
                        log[last + 1] := log[last + 1] + granted;
                    ELSE
                        log := log[first : ] || ARRAY[at_ms, log[last + 1] + granted];
                        last := last - first + 3;
                    END IF;
                    first := 1;
                    units := units + granted;
                    changed := true;
                END IF;
            ELSIF op = 'refund' AND units > 0 THEN
                granted := least(a[3], units);
                units := units - granted;
                changed := true;
                IF units = 0 THEN
                    last := first - 2;
                ELSE
                    WHILE last > first AND log[last - 1] >= base + units LOOP
                        last := last - 2;
                    END LOOP;
                    log := log[first : last + 1];
                    last := last - first + 1;
                    first := 1;
                    log[last + 1] := base + units;
                END IF;
            END IF;
            IF changed THEN
                IF units = 0 THEN
                    next := NULL;
                ELSE
                    next := base || log;
                    expires_us := (log[last] + span) * 1000;
                END IF;
            END IF;
            IF units = 0 THEN
                reply := ARRAY[granted, now_us, at_ms, 0, at_ms, at_ms, at_ms];
            ELSE
                -- The first run that holds the k-th unit.
                wanted := base + greatest(1, least(units, units + a[3] - a[2]));
                low := 0;
                high := (last - first) / 2;
                WHILE low < high LOOP
                    middle := (low + high) / 2;
                    IF log[first + 2 * middle + 1] < wanted THEN
                        low := middle + 1;
                    ELSE
                        high := middle;
                    END IF;
                END LOOP;
                reply := ARRAY[granted, now_us, at_ms, units, log[first], log[last], log[first + 2 * low]];
            END IF;
        END;
        IF NOT changed THEN
            RETURN reply;
        END IF;
        IF next IS NOT NULL THEN
            sweep_us := expires_us;
            IF clock_us IS NOT NULL THEN
                sweep_us := greatest(sweep_us, server_us + 3600000000);
            END IF;
        END IF;
        IF present AND next IS NULL THEN
            DELETE FROM "throttlekit" t WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF present THEN
            UPDATE "throttlekit" t SET kind = kind_in, state = next, code = NULL, expires = expires_us,
                sweep = sweep_us WHERE t.key = k AND (locked OR (t.state IS NOT DISTINCT FROM old_state
                AND t.expires = old_expires_us AND t.kind = old_kind));
        ELSIF next IS NULL THEN
            RETURN reply;
        ELSE
            INSERT INTO "throttlekit" (key, kind, state, expires, sweep)
                VALUES (k, kind_in, next, expires_us, sweep_us) ON CONFLICT (key) DO NOTHING;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        locked := true;
    END LOOP;
END
$throttlekit$;
