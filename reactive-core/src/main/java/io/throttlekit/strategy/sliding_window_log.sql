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
