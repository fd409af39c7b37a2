-- Calendar quota: the Lua writing of Counter.java, which documents the arguments and the reply.
--
-- KEYS[1] the key; ARGV[1] an injected clock in epoch microseconds, or '' for the server's; ARGV[2] the
-- operation; ARGV[3..5] limit, a, b; ARGV[6..10] boundaries of four periods around the client's clock. The hash
-- has s, the period's start in ms, and c, its count.
local key, injected, op = KEYS[1], ARGV[1], ARGV[2]
local limit, a, b = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])

local now
if injected == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = tonumber(injected)
end
local ms = math.floor(now / 1000)

-- The first boundary after an instant, and the one before that; nil where the client sent none.
local function around(instant)
  for i = 7, 10 do
    local boundary = tonumber(ARGV[i])
    if instant < boundary then
      return boundary, tonumber(ARGV[i - 1])
    end
  end
  return nil
end

local reset, start = around(ms)
if not reset or ms < start then
  return {-1, now}
end

local count = 0
local stored = redis.call('HMGET', key, 's', 'c')
if stored[1] and stored[2] then
  local s, c = tonumber(stored[1]), tonumber(stored[2])
  if not s or not c then
    return redis.error_reply('STATEMISMATCH expected a start and a count')
  end
  if s >= start then
    start, count = math.floor(s), math.floor(c)
    reset = around(start)
  end
elseif redis.call('EXISTS', key) == 1 then
  return redis.error_reply('STATEMISMATCH expected a counter')
end

local function write()
  -- A period that starts after all boundaries, kept because the clock stepped back: its end is not known here,
  -- so it stays a year. Whether it is over is told by its start and not by the key's life.
  local ttl = math.max(1, (reset or start + 31622400000) - ms)
  if injected ~= '' then
    ttl = math.max(ttl, 3600000)
  end
  redis.call('HSET', key, 's', string.format('%.0f', start), 'c', string.format('%.0f', count))
  redis.call('PEXPIRE', key, string.format('%.0f', ttl))
end

local granted = 0
if op == 'check' then
  local units = math.min(b, limit - count)
  if units >= a then
    granted = units
    count = count + units
    write()
  end
elseif (op == 'refund' or (op == 'refund_window' and b == reset)) and count > 0 then
  granted = math.min(a, count)
  count = count - granted
  write()
end
return {granted, now, start, count}
