-- The leaky bucket, as DepartureLine.java says it. State: the end of the line as whole microseconds, ticks, and
-- ticks per microsecond (L). A span or an instant is two numbers, microseconds and ticks; all products come
-- ready-made.
--
-- reserve: L, the longest wait in whole microseconds, cost, cost·T (2)
-- cancel:  L, the departure (2), the end of the line as it is while the departure is the last (2)
-- Replies granted, now, then two numbers: for reserve the end of the line before the step, else after it.
DECLARE
    per_micro CONSTANT bigint := a[1];
    line_end bigint;
    part bigint;
    scaled numeric;
    granted bigint := 0;
    after bigint;
    after_part bigint;
BEGIN
    IF state IS NULL THEN
        line_end := now_us;
        part := 0;
    ELSE
        line_end := state[1];
        part := state[2];
        IF state[3] <> per_micro AND part > 0 THEN
            -- Written under another rate: the same instant in our ticks, or the first one after it.
            scaled := div(part::numeric * per_micro + (state[3] - 1), state[3]::numeric);
            IF scaled = per_micro THEN
                line_end := line_end + 1;
                part := 0;
            ELSE
                part := scaled;
            END IF;
        END IF;
        IF line_end < now_us THEN
            line_end := now_us;
            part := 0;
        END IF;
    END IF;
    IF op = 'reserve' THEN
        IF line_end - now_us < a[2] OR (line_end - now_us = a[2] AND part = 0) THEN
            granted := a[3];
            after := line_end + a[4];
            after_part := part + a[5];
            IF after_part >= per_micro THEN
                after := after + 1;
                after_part := after_part - per_micro;
            END IF;
            changed := true;
        END IF;
    ELSIF op = 'cancel' THEN
        IF line_end = a[4] AND part = a[5] AND (a[2] > now_us OR (a[2] = now_us AND a[3] > 0)) THEN
            granted := 1;
            line_end := a[2];
            part := a[3];
            after := line_end;
            after_part := part;
            changed := true;
        END IF;
    END IF;
    IF changed THEN
        next := ARRAY[after, after_part, per_micro];
        expires_us := after + CASE WHEN after_part > 0 THEN 1 ELSE 0 END;
    END IF;
    reply := ARRAY[granted, now_us, line_end, part];
END;
