-- The sliding window over buckets, as SlidingWindow.java says it. Time counts in 1/S ms, so bucket c starts at c*W.
-- State: W, newest bucket, then the counts of that bucket and of the S before it.
--
-- check:    W, S, limit, min, max, the x to look for
-- look:     the same, where min and max do not count
-- forecast: W, S, limit
-- refund:   W, S, limit, cost
-- Replies granted, now, tick, full and old after the step; then for each x that it looked for (one, or in a forecast
-- limit - available - 1 and 0) tick, full and old of the first bucket whose full is at most x.
DECLARE
    w CONSTANT bigint := a[1];
    s CONSTANT integer := a[2];
    most CONSTANT bigint := a[3];
    ms CONSTANT bigint := now_us / 1000 - CASE WHEN now_us % 1000 < 0 THEN 1 ELSE 0 END;
    off bigint := ms * s;
    tick bigint := off / w - CASE WHEN off % w < 0 THEN 1 ELSE 0 END;
    -- The counts of bucket `tick` and of those before it: count i + 1 is bucket tick - i.
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
