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
