-- The sliding window over stamps, as SlidingWindowLog.java says it. State: the units of all stamps that were dropped,
-- then runs of equal stamps, oldest first: the stamp in ms, and the units up to and with its run. So neither an allow
-- nor a denial looks at more than the runs it drops.
--
-- check, look: window, limit, min, max (min alone counts for a look)
-- refund:      window, limit, cost, 0
-- Replies granted, now, at, units, oldest, newest and k-th live stamp after the step, where
-- k = clamp(units + min - limit, 1, units); without stamps the last three are `at`.
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
