CREATE TABLE IF NOT EXISTS "throttlekit" (
    key bytea PRIMARY KEY,
    kind text NOT NULL,
    s1 bigint,
    s2 bigint,
    s3 bigint,
    more bigint[],
    code bytea,
    expires bigint NOT NULL,
    sweep bigint
) WITH (fillfactor = 70);

CREATE OR REPLACE FUNCTION "throttlekit_gcra_7b60a4e2"(k bytea, kind_in text, clock_us bigint, op text, a1 bigint, a2 bigint,
    a3 bigint, a4 bigint, a5 bigint, a6 bigint, a7 bigint, a8 bigint, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    s1 bigint;
    s2 bigint;
    s3 bigint;
    more bigint[];
    old_kind text;
    old_expires_us bigint;
    old_version xid;
    now_us bigint;
    keep_us bigint;
    expires_us bigint;
    reply bigint[];
BEGIN
    SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
        INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k;
    LOOP
        now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        IF clock_us IS NOT NULL THEN
            keep_us := now_us + 3600000000;
            now_us := clock_us;
        END IF;
        IF old_expires_us > now_us AND old_kind = kind_in THEN
            -- It is there.
        ELSIF old_expires_us > now_us THEN
            RAISE EXCEPTION 'the key holds %, not %', old_kind, kind_in USING ERRCODE = 'TK409';
        ELSE
            s1 := NULL;
        END IF;
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
        IF expires_us IS NOT NULL AND s1 IS NOT NULL AND old_version IS NOT NULL THEN
            UPDATE "throttlekit" t SET kind = kind_in, s1 = s1, s2 = s2, s3 = s3, more = more, code = NULL,
                expires = expires_us, sweep = keep_us WHERE t.key = k AND t.xmin = old_version;
        ELSIF expires_us IS NULL THEN
            RETURN reply;
        ELSIF s1 IS NOT NULL THEN
            INSERT INTO "throttlekit" (key, kind, s1, s2, s3, more, expires, sweep)
                VALUES (k, kind_in, s1, s2, s3, more, expires_us, keep_us) ON CONFLICT (key) DO NOTHING;
        ELSE
            DELETE FROM "throttlekit" t WHERE t.key = k AND t.xmin = old_version;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        expires_us := NULL;
        SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
            INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k
            FOR UPDATE;
    END LOOP;
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_gcra_7b60a4e2_allow"(k bytea, u1 bigint, u2 bigint, u3 bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    started timestamptz;
    now_us bigint;
    s1 bigint;
    s2 bigint;
    s3 bigint;
BEGIN
    started := clock_timestamp();
    now_us := (extract(epoch FROM started) * 1000000)::bigint;
    UPDATE "throttlekit" t SET expires = greatest(t.expires, now_us) + u3
        WHERE t.key = k AND t.kind = 'gcra' AND t.s3 = 1 AND t.expires <= now_us + u1
            AND clock_timestamp() < started + interval '1 ms'
        RETURNING t.expires INTO s1;
    IF FOUND THEN
        RETURN ARRAY[u2, now_us, s1, 0];
    END IF;
    RETURN "throttlekit_gcra_7b60a4e2"(k, 'gcra', NULL, 'check', 1, u1 + u3, 0, u2, u2, u3, 0, NULL, NULL);
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_gcra_7b60a4e2_deny"(k bytea, u1 bigint, u2 bigint, u3 bigint)
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    started timestamptz;
    now_us bigint;
    s1 bigint;
    s2 bigint;
    s3 bigint;
BEGIN
    SELECT t.expires INTO s1 FROM "throttlekit" t WHERE t.key = k AND t.kind = 'gcra' AND t.s3 = 1;
    now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    IF s1 > now_us + u1 THEN
        RETURN ARRAY[0, now_us, s1, 0];
    END IF;
    RETURN "throttlekit_gcra_7b60a4e2"(k, 'gcra', NULL, 'check', 1, u1 + u3, 0, u2, u2, u3, 0, NULL, NULL);
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_token_bucket_2b33dee5"(k bytea, kind_in text, clock_us bigint, op text, a1 bigint, a2 bigint,
    a3 bigint, a4 bigint, a5 bigint, a6 bigint, a7 bigint, a8 bigint, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    s1 bigint;
    s2 bigint;
    s3 bigint;
    more bigint[];
    old_kind text;
    old_expires_us bigint;
    old_version xid;
    now_us bigint;
    keep_us bigint;
    expires_us bigint;
    reply bigint[];
BEGIN
    SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
        INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k;
    LOOP
        now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        IF clock_us IS NOT NULL THEN
            keep_us := now_us + 3600000000;
            now_us := clock_us;
        END IF;
        IF old_expires_us > now_us AND old_kind = kind_in THEN
            -- It is there.
        ELSIF old_expires_us > now_us THEN
            RAISE EXCEPTION 'the key holds %, not %', old_kind, kind_in USING ERRCODE = 'TK409';
        ELSE
            s1 := NULL;
        END IF;
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
        IF expires_us IS NOT NULL AND s1 IS NOT NULL AND old_version IS NOT NULL THEN
            UPDATE "throttlekit" t SET kind = kind_in, s1 = s1, s2 = s2, s3 = s3, more = more, code = NULL,
                expires = expires_us, sweep = keep_us WHERE t.key = k AND t.xmin = old_version;
        ELSIF expires_us IS NULL THEN
            RETURN reply;
        ELSIF s1 IS NOT NULL THEN
            INSERT INTO "throttlekit" (key, kind, s1, s2, s3, more, expires, sweep)
                VALUES (k, kind_in, s1, s2, s3, more, expires_us, keep_us) ON CONFLICT (key) DO NOTHING;
        ELSE
            DELETE FROM "throttlekit" t WHERE t.key = k AND t.xmin = old_version;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        expires_us := NULL;
        SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
            INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k
            FOR UPDATE;
    END LOOP;
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_fixed_window_aa3c34a9"(k bytea, kind_in text, clock_us bigint, op text, a1 bigint, a2 bigint,
    a3 bigint, a4 bigint, a5 bigint, a6 bigint, a7 bigint, a8 bigint, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    s1 bigint;
    s2 bigint;
    s3 bigint;
    more bigint[];
    old_kind text;
    old_expires_us bigint;
    old_version xid;
    now_us bigint;
    keep_us bigint;
    expires_us bigint;
    reply bigint[];
BEGIN
    SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
        INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k;
    LOOP
        now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        IF clock_us IS NOT NULL THEN
            keep_us := now_us + 3600000000;
            now_us := clock_us;
        END IF;
        IF old_expires_us > now_us AND old_kind = kind_in THEN
            -- It is there.
        ELSIF old_expires_us > now_us THEN
            RAISE EXCEPTION 'the key holds %, not %', old_kind, kind_in USING ERRCODE = 'TK409';
        ELSE
            s1 := NULL;
        END IF;
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
        IF expires_us IS NOT NULL AND s1 IS NOT NULL AND old_version IS NOT NULL THEN
            UPDATE "throttlekit" t SET kind = kind_in, s1 = s1, s2 = s2, s3 = s3, more = more, code = NULL,
                expires = expires_us, sweep = keep_us WHERE t.key = k AND t.xmin = old_version;
        ELSIF expires_us IS NULL THEN
            RETURN reply;
        ELSIF s1 IS NOT NULL THEN
            INSERT INTO "throttlekit" (key, kind, s1, s2, s3, more, expires, sweep)
                VALUES (k, kind_in, s1, s2, s3, more, expires_us, keep_us) ON CONFLICT (key) DO NOTHING;
        ELSE
            DELETE FROM "throttlekit" t WHERE t.key = k AND t.xmin = old_version;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        expires_us := NULL;
        SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
            INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k
            FOR UPDATE;
    END LOOP;
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_quota_e1ab6e2e"(k bytea, kind_in text, clock_us bigint, op text, a1 bigint, a2 bigint,
    a3 bigint, a4 bigint, a5 bigint, a6 bigint, a7 bigint, a8 bigint, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    s1 bigint;
    s2 bigint;
    s3 bigint;
    more bigint[];
    old_kind text;
    old_expires_us bigint;
    old_version xid;
    now_us bigint;
    keep_us bigint;
    expires_us bigint;
    reply bigint[];
BEGIN
    SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
        INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k;
    LOOP
        now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        IF clock_us IS NOT NULL THEN
            keep_us := now_us + 3600000000;
            now_us := clock_us;
        END IF;
        IF old_expires_us > now_us AND old_kind = kind_in THEN
            -- It is there.
        ELSIF old_expires_us > now_us THEN
            RAISE EXCEPTION 'the key holds %, not %', old_kind, kind_in USING ERRCODE = 'TK409';
        ELSE
            s1 := NULL;
        END IF;
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
        IF expires_us IS NOT NULL AND s1 IS NOT NULL AND old_version IS NOT NULL THEN
            UPDATE "throttlekit" t SET kind = kind_in, s1 = s1, s2 = s2, s3 = s3, more = more, code = NULL,
                expires = expires_us, sweep = keep_us WHERE t.key = k AND t.xmin = old_version;
        ELSIF expires_us IS NULL THEN
            RETURN reply;
        ELSIF s1 IS NOT NULL THEN
            INSERT INTO "throttlekit" (key, kind, s1, s2, s3, more, expires, sweep)
                VALUES (k, kind_in, s1, s2, s3, more, expires_us, keep_us) ON CONFLICT (key) DO NOTHING;
        ELSE
            DELETE FROM "throttlekit" t WHERE t.key = k AND t.xmin = old_version;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        expires_us := NULL;
        SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
            INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k
            FOR UPDATE;
    END LOOP;
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_sliding_window_aca48d57"(k bytea, kind_in text, clock_us bigint, op text, a1 bigint, a2 bigint,
    a3 bigint, a4 bigint, a5 bigint, a6 bigint, a7 bigint, a8 bigint, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    s1 bigint;
    s2 bigint;
    s3 bigint;
    more bigint[];
    old_kind text;
    old_expires_us bigint;
    old_version xid;
    now_us bigint;
    keep_us bigint;
    expires_us bigint;
    reply bigint[];
BEGIN
    SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
        INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k;
    LOOP
        now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        IF clock_us IS NOT NULL THEN
            keep_us := now_us + 3600000000;
            now_us := clock_us;
        END IF;
        IF old_expires_us > now_us AND old_kind = kind_in THEN
            -- It is there.
        ELSIF old_expires_us > now_us THEN
            RAISE EXCEPTION 'the key holds %, not %', old_kind, kind_in USING ERRCODE = 'TK409';
        ELSE
            s1 := NULL;
        END IF;
        -- The sliding window over buckets, as SlidingWindow.java says it. Time counts in 1/S ms, so bucket c starts at c*W.
        -- State: W (s1), the newest bucket (s2), and in `more` the counts of that bucket and of the S before it.
        --
        -- check:    W, S, limit, min, max, the x to look for
        -- look:     the same, where min and max do not count
        -- forecast: W, S, limit
        -- refund:   W, S, limit, cost
        -- Replies granted, now, tick, full and old after the step; then for each x that it looked for (one, or in a forecast
        -- limit - available - 1 and 0) tick, full and old of the first bucket whose full is at most x.
        DECLARE
            s CONSTANT integer := a2;
            since CONSTANT bigint := (now_us / 1000 - CASE WHEN now_us % 1000 < 0 THEN 1 ELSE 0 END) * a2;
            tick bigint := since / a1 - CASE WHEN since % a1 < 0 THEN 1 ELSE 0 END;
            behind integer;
            total bigint := 0;
            old bigint;
            available bigint;
            granted bigint := 0;
            x bigint;
            b_tick bigint;
            b_total bigint;
            b_old bigint;
        BEGIN
            -- Count i + 1 becomes that of bucket tick - i.
            IF s1 = a1 AND array_length(more, 1) = s + 1 THEN
                IF tick > s2 THEN
                    behind := least(tick - s2, s + 1);
                    more := array_fill(0::bigint, ARRAY[behind]) || more[1 : s + 1 - behind];
                ELSE
                    tick := s2;
                END IF;
            ELSE
                more := array_fill(0::bigint, ARRAY[s + 1]);
            END IF;
            FOR i IN 1..s LOOP
                total := total + more[i];
            END LOOP;
            old := more[s + 1];
            available := greatest(0, a3 - total - (old * (a1 - greatest(0, since - tick * a1)) + a1 - 1) / a1);
            IF op = 'check' THEN
                granted := least(a5, available);
                IF granted < a4 THEN
                    granted := 0;
                ELSE
                    more[1] := more[1] + granted;
                    total := total + granted;
                END IF;
            ELSIF op = 'refund' THEN
                granted := least(a4, more[1]);
                more[1] := more[1] - granted;
                total := total - granted;
            END IF;
            IF granted > 0 THEN
                s1 := a1;
                s2 := tick;
                expires_us := (tick + 1) * a1;
                expires_us := (expires_us / s + CASE WHEN expires_us % s > 0 THEN 1 ELSE 0 END + a1) * 1000;
            END IF;
            reply := ARRAY[granted, now_us, tick, total, old];
            IF op <> 'refund' THEN
                FOR turn IN 1..CASE WHEN op = 'forecast' THEN 2 ELSE 1 END LOOP
                    x := CASE WHEN op <> 'forecast' THEN a6 WHEN turn = 1 THEN greatest(0, a3 - available - 1) ELSE 0 END;
                    b_tick := tick;
                    b_total := total;
                    b_old := old;
                    -- From one bucket to the next, the oldest of the full ones begins to fade.
                    WHILE b_total > x LOOP
                        b_old := more[s - (b_tick - tick)];
                        b_total := b_total - b_old;
                        b_tick := b_tick + 1;
                    END LOOP;
                    reply := reply || ARRAY[b_tick, b_total, b_old];
                END LOOP;
            END IF;
        END;
        IF expires_us IS NOT NULL AND s1 IS NOT NULL AND old_version IS NOT NULL THEN
            UPDATE "throttlekit" t SET kind = kind_in, s1 = s1, s2 = s2, s3 = s3, more = more, code = NULL,
                expires = expires_us, sweep = keep_us WHERE t.key = k AND t.xmin = old_version;
        ELSIF expires_us IS NULL THEN
            RETURN reply;
        ELSIF s1 IS NOT NULL THEN
            INSERT INTO "throttlekit" (key, kind, s1, s2, s3, more, expires, sweep)
                VALUES (k, kind_in, s1, s2, s3, more, expires_us, keep_us) ON CONFLICT (key) DO NOTHING;
        ELSE
            DELETE FROM "throttlekit" t WHERE t.key = k AND t.xmin = old_version;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        expires_us := NULL;
        SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
            INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k
            FOR UPDATE;
    END LOOP;
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_sliding_window_log_92dd025e"(k bytea, kind_in text, clock_us bigint, op text, a1 bigint, a2 bigint,
    a3 bigint, a4 bigint, a5 bigint, a6 bigint, a7 bigint, a8 bigint, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    s1 bigint;
    s2 bigint;
    s3 bigint;
    more bigint[];
    old_kind text;
    old_expires_us bigint;
    old_version xid;
    now_us bigint;
    keep_us bigint;
    expires_us bigint;
    reply bigint[];
BEGIN
    SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
        INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k;
    LOOP
        now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        IF clock_us IS NOT NULL THEN
            keep_us := now_us + 3600000000;
            now_us := clock_us;
        END IF;
        IF old_expires_us > now_us AND old_kind = kind_in THEN
            -- It is there.
        ELSIF old_expires_us > now_us THEN
            RAISE EXCEPTION 'the key holds %, not %', old_kind, kind_in USING ERRCODE = 'TK409';
        ELSE
            s1 := NULL;
        END IF;
        -- The sliding window over stamps, as SlidingWindowLog.java says it. State: the units of all stamps that were dropped
        -- (s1), and in `more` runs of equal stamps, oldest first: the stamp in ms, and the units up to and with its run. So
        -- neither an allow nor a denial looks at more than the runs it drops.
        --
        -- check, look: window, limit, min, max (min alone counts for a look)
        -- refund:      window, limit, cost, 0
        -- Replies granted, now, at, units, oldest, newest and k-th live stamp after the step, where
        -- k = clamp(units + min - limit, 1, units); without stamps the last three are `at`.
        DECLARE
            at_ms bigint := now_us / 1000 - CASE WHEN now_us % 1000 < 0 THEN 1 ELSE 0 END;
            -- Places of the first and of the last live run; no run is live when head > tail.
            head integer := 1;
            tail integer := -1;
            units bigint := 0;
            granted bigint := 0;
            wanted bigint;
            low integer;
            high integer;
            middle integer;
        BEGIN
            IF s1 IS NOT NULL THEN
                tail := array_length(more, 1) - 1;
                at_ms := greatest(at_ms, more[tail]);
                WHILE head <= tail AND more[head] <= at_ms - a1 LOOP
                    s1 := more[head + 1];
                    head := head + 2;
                END LOOP;
                IF head <= tail THEN
                    units := more[tail + 1] - s1;
                END IF;
            END IF;
            IF op = 'check' THEN
                granted := least(a4, a2 - units);
                IF granted < a3 THEN
                    granted := 0;
                ELSE
                    IF head > tail THEN
                        s1 := 0;
                        more := ARRAY[at_ms, granted];
                        tail := 1;
                    ELSIF more[tail] = at_ms THEN
                        more := more[head : tail + 1];
                        tail := tail - head + 1;
                        more[tail + 1] := more[tail + 1] + granted;
                    ELSE
                        more := more[head : tail + 1] || ARRAY[at_ms, more[tail + 1] + granted];
                        tail := tail - head + 3;
                    END IF;
                    head := 1;
                    units := units + granted;
                END IF;
            ELSIF op = 'refund' AND units > 0 THEN
                granted := least(a3, units);
                units := units - granted;
                IF units > 0 THEN
                    WHILE tail > head AND more[tail - 1] >= s1 + units LOOP
                        tail := tail - 2;
                    END LOOP;
                    more := more[head : tail + 1];
                    tail := tail - head + 1;
                    head := 1;
                    more[tail + 1] := s1 + units;
                END IF;
            END IF;
            IF granted > 0 THEN
                expires_us := (more[tail] + a1) * 1000;
            END IF;
            IF units = 0 THEN
                s1 := NULL;
                reply := ARRAY[granted, now_us, at_ms, 0, at_ms, at_ms, at_ms];
            ELSE
                -- The first run that holds the k-th unit.
                wanted := s1 + greatest(1, least(units, units + a3 - a2));
                low := 0;
                high := (tail - head) / 2;
                WHILE low < high LOOP
                    middle := (low + high) / 2;
                    IF more[head + 2 * middle + 1] < wanted THEN
                        low := middle + 1;
                    ELSE
                        high := middle;
                    END IF;
                END LOOP;
                reply := ARRAY[granted, now_us, at_ms, units, more[head], more[tail], more[head + 2 * low]];
            END IF;
        END;
        IF expires_us IS NOT NULL AND s1 IS NOT NULL AND old_version IS NOT NULL THEN
            UPDATE "throttlekit" t SET kind = kind_in, s1 = s1, s2 = s2, s3 = s3, more = more, code = NULL,
                expires = expires_us, sweep = keep_us WHERE t.key = k AND t.xmin = old_version;
        ELSIF expires_us IS NULL THEN
            RETURN reply;
        ELSIF s1 IS NOT NULL THEN
            INSERT INTO "throttlekit" (key, kind, s1, s2, s3, more, expires, sweep)
                VALUES (k, kind_in, s1, s2, s3, more, expires_us, keep_us) ON CONFLICT (key) DO NOTHING;
        ELSE
            DELETE FROM "throttlekit" t WHERE t.key = k AND t.xmin = old_version;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        expires_us := NULL;
        SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
            INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k
            FOR UPDATE;
    END LOOP;
END
$throttlekit$;

CREATE OR REPLACE FUNCTION "throttlekit_leaky_bucket_0078c6c7"(k bytea, kind_in text, clock_us bigint, op text, a1 bigint, a2 bigint,
    a3 bigint, a4 bigint, a5 bigint, a6 bigint, a7 bigint, a8 bigint, a bigint[])
RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $throttlekit$
#variable_conflict use_variable
DECLARE
    s1 bigint;
    s2 bigint;
    s3 bigint;
    more bigint[];
    old_kind text;
    old_expires_us bigint;
    old_version xid;
    now_us bigint;
    keep_us bigint;
    expires_us bigint;
    reply bigint[];
BEGIN
    SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
        INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k;
    LOOP
        now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
        IF clock_us IS NOT NULL THEN
            keep_us := now_us + 3600000000;
            now_us := clock_us;
        END IF;
        IF old_expires_us > now_us AND old_kind = kind_in THEN
            -- It is there.
        ELSIF old_expires_us > now_us THEN
            RAISE EXCEPTION 'the key holds %, not %', old_kind, kind_in USING ERRCODE = 'TK409';
        ELSE
            s1 := NULL;
        END IF;
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
        IF expires_us IS NOT NULL AND s1 IS NOT NULL AND old_version IS NOT NULL THEN
            UPDATE "throttlekit" t SET kind = kind_in, s1 = s1, s2 = s2, s3 = s3, more = more, code = NULL,
                expires = expires_us, sweep = keep_us WHERE t.key = k AND t.xmin = old_version;
        ELSIF expires_us IS NULL THEN
            RETURN reply;
        ELSIF s1 IS NOT NULL THEN
            INSERT INTO "throttlekit" (key, kind, s1, s2, s3, more, expires, sweep)
                VALUES (k, kind_in, s1, s2, s3, more, expires_us, keep_us) ON CONFLICT (key) DO NOTHING;
        ELSE
            DELETE FROM "throttlekit" t WHERE t.key = k AND t.xmin = old_version;
        END IF;
        IF FOUND THEN
            RETURN reply;
        END IF;
        expires_us := NULL;
        SELECT t.s1, t.s2, t.s3, t.more, t.kind, t.expires, t.xmin
            INTO s1, s2, s3, more, old_kind, old_expires_us, old_version FROM "throttlekit" t WHERE t.key = k
            FOR UPDATE;
    END LOOP;
END
$throttlekit$;
