-- Sliding window log: the Lua writing of SlidingWindowLog.java, which documents the arguments and the reply.
--
-- KEYS[1] the key; ARGV[1] an injected clock in epoch microseconds, or '' for the server's; ARGV[2] the
-- operation; ARGV[3..6] window, limit, a, b. The sorted set has one member per unit, its score the stamp in ms.
--
-- A member must be new, or a stamp would be lost and the limit be passed. No client can promise that alone: a
-- clock may stand still, and nodes may come to the same name. The server can: it adds under NX, counts what was
-- really added, and goes on with further names until all are.
local key, injected, op = KEYS[1], ARGV[1], ARGV[2]
local window, limit, a, b = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local now
if injected == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = tonumber(injected)
end
local ms = math.floor(now / 1000)

local function text(number)
  return string.format('%.0f', number)
end

local at = ms
local last = redis.call('ZREVRANGE', key, 0, 0, 'WITHSCORES')
if last[2] then
  at = math.max(at, math.floor(tonumber(last[2])))
end
local deadline = at - window
local live = '(' .. text(deadline)
local n = last[2] and redis.call('ZCOUNT', key, live, '+inf') or 0

local function expire(newest)
  local ttl = math.max(1, newest + window - ms)
  if injected ~= '' then
    ttl = math.max(ttl, 3600000)
  end
  redis.call('PEXPIRE', key, text(ttl))
end

local function stamp(rank)
  local found = redis.call('ZRANGEBYSCORE', key, live, '+inf', 'WITHSCORES', 'LIMIT', text(rank - 1), 1)
  return found[2] and math.floor(tonumber(found[2])) or at
end

local function append(units)
  local score = text(at)
  local index = redis.call('ZCOUNT', key, score, score)
  while units > 0 do
    local members = {}
    for i = 1, math.min(units, 1000) do
      index = index + 1
      members[2 * i - 1] = score
      members[2 * i] = string.format('jvm:%s:%012.0f', score, index)
    end
    units = units - redis.call('ZADD', key, 'NX', unpack(members))
  end
end

local granted = 0
if op == 'check' then
  local units = math.min(b, limit - n)
  if units >= a then
    granted = units
    append(units)
    redis.call('ZREMRANGEBYSCORE', key, '-inf', text(deadline))
    expire(at)
    n = n + units
  end
elseif op == 'refund' and n > 0 then
  granted = math.min(a, n)
  n = n - granted
  if n == 0 then
    redis.call('DEL', key)
  else
    redis.call('ZREMRANGEBYRANK', key, text(-granted), -1)
    redis.call('ZREMRANGEBYSCORE', key, '-inf', text(deadline))
    expire(stamp(n))
  end
end

if n == 0 then
  return {granted, now, at, 0, at, at, at}
end
local k = math.max(1, math.min(n, n + a - limit))
return {granted, now, at, n, stamp(1), stamp(n), stamp(k)}
