-- Fixed window: the Lua writing of Counter.java, which documents the arguments and the reply.
--
-- KEYS[1] the key; ARGV[1] an injected clock in epoch microseconds, or '' for the server's; ARGV[2] the
-- operation; ARGV[3..7] period, anchor, limit, a, b. The hash has s, the window's start in ms, and c, its count.
local key, injected, op = KEYS[1], ARGV[1], ARGV[2]
local period, anchor, limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local a, b = tonumber(ARGV[6]), tonumber(ARGV[7])

local now
if injected == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = tonumber(injected)
end
local ms = math.floor(now / 1000)

-- fmod is exact where a quotient may round up.
local over = math.fmod(ms - anchor, period)
if over < 0 then
  over = over + period
end
local start, count = ms - over, 0

local stored = redis.call('HMGET', key, 's', 'c')
if stored[1] and stored[2] then
  local s, c = tonumber(stored[1]), tonumber(stored[2])
  if not s or not c then
    return redis.error_reply('STATEMISMATCH expected a start and a count')
  end
  if s >= start then
    start, count = math.floor(s), math.floor(c)
  end
elseif redis.call('EXISTS', key) == 1 then
  return redis.error_reply('STATEMISMATCH expected a counter')
end
local reset = start + period

local function write()
  local ttl = math.max(1, reset - ms)
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
