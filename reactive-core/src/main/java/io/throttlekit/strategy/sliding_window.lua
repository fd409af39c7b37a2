-- Sliding window: the Lua writing of SlidingWindow.java, which documents the arguments and the reply.
--
-- KEYS[1] the key; ARGV[1] an injected clock in epoch microseconds, or '' for the server's; ARGV[2] the
-- operation; ARGV[3..5] window W, buckets S, limit, then the operation's numbers. The hash has a field
-- `tick mod (S+1)` with `tick:count` for each of the last S+1 buckets; time counts in 1/S ms, so that bucket c
-- starts at c·W.
local key, injected, op = KEYS[1], ARGV[1], ARGV[2]
local W, S, limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local EXACT = 9007199254740992

-- Rounds down; fmod is exact where floor(x / y) may round up.
local function divmod(x, y)
  local rest = math.fmod(x, y)
  if rest < 0 then
    rest = rest + y
  end
  return (x - rest) / y, rest
end

-- floor(x·y / m) for y < m < 2^43: long multiplication by digits of 9 bits.
local function mulDiv(x, y, m)
  if x * y < EXACT then
    return (divmod(x * y, m))
  end
  local digits = {}
  while x > 0 do
    x, digits[#digits + 1] = divmod(x, 512)
  end
  local q, r = 0, 0
  for i = #digits, 1, -1 do
    local more, rest = divmod(r * 512 + digits[i] * y, m)
    q, r = q * 512 + more, rest
  end
  return q
end

local now
if injected == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = tonumber(injected)
end
local ms = math.floor(now / 1000)

local function endMs(newest)
  local q, r = divmod((newest + 1) * W, S)
  return q + (r > 0 and 1 or 0) + W
end

local counts, newest = {}, nil
local stored = redis.call('HGETALL', key)
for i = 1, #stored, 2 do
  local tick, count = string.match(stored[i + 1], '^(%-?%d+):(%d+)')
  if not tick or not tonumber(stored[i]) then
    return redis.error_reply('STATEMISMATCH expected a sliding window')
  end
  tick = tonumber(tick)
  counts[tick] = tonumber(count)
  if not newest or tick > newest then
    newest = tick
  end
end

local tick = divmod(ms * S, W)
local afresh = false
if newest and newest > tick then
  -- The clock stepped back: the newest bucket goes on. But after a change to a longer window or to fewer
  -- buckets the old numbers mean a far future. Then the key's life does not reach as far as they would
  -- have it, and it starts afresh. With an injected clock the life of a key says nothing.
  if injected == '' and redis.call('PTTL', key) < endMs(newest) - ms - 1000 then
    counts, afresh = {}, true
  else
    tick = newest
  end
end

local full = 0
for i = tick - S + 1, tick do
  full = full + (counts[i] or 0)
end
local old = counts[tick - S] or 0

local function available()
  local over = math.max(0, ms * S - tick * W)
  -- ceil(old·(W − over) / W)
  return math.max(0, limit - full - (old - mulDiv(old, over, W)))
end

local function write()
  if afresh then
    redis.call('DEL', key)
  end
  local ttl = math.max(1, endMs(tick) - ms)
  if injected ~= '' then
    ttl = math.max(ttl, 3600000)
  end
  local _, field = divmod(tick, S + 1)
  redis.call('HSET', key, string.format('%.0f', field), string.format('%.0f:%.0f', tick, counts[tick]))
  redis.call('PEXPIRE', key, string.format('%.0f', ttl))
end

-- The first bucket, nothing being added, whose sum is at most x; appended to the reply.
local function find(reply, x)
  local t, f, o = tick, full, old
  while f > x do
    local leaving = counts[t - S + 1] or 0
    t, f, o = t + 1, f - leaving, leaving
  end
  reply[#reply + 1] = t
  reply[#reply + 1] = f
  reply[#reply + 1] = o
end

local granted = 0
if op == 'check' then
  local units = math.min(tonumber(ARGV[7]), available())
  if units >= tonumber(ARGV[6]) then
    granted = units
    full = full + units
    counts[tick] = (counts[tick] or 0) + units
    write()
  end
elseif op == 'refund' then
  local had = counts[tick] or 0
  if had > 0 then
    granted = math.min(had, tonumber(ARGV[6]))
    full = full - granted
    counts[tick] = had - granted
    write()
  end
end

local reply = {granted, now, tick, full, old}
if op == 'forecast' then
  find(reply, math.max(0, limit - available() - 1))
  find(reply, 0)
elseif granted == 0 and op ~= 'refund' then
  find(reply, tonumber(ARGV[8]))
else
  find(reply, full)
end
return reply
