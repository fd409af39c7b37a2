-- Token bucket: the Lua writing of TokenBucket.java, which documents the arguments and the reply.
--
-- KEYS[1] the key; ARGV[1] an injected clock in epoch microseconds, or '' for the server's; ARGV[2] the
-- operation; ARGV[3..8] D, grains per microsecond, capacity, time to fill, a, b.
--
-- The hash has t, tokens with 17 digits of k/D, and l, epoch ms with 3 digits. Here the bucket is whole tokens
-- and grains of 1/D token, so that no number that is used exceeds 2^53.
local key, injected, op = KEYS[1], ARGV[1], ARGV[2]
local D, capacity, toFill = tonumber(ARGV[3]), tonumber(ARGV[5]), tonumber(ARGV[6])
local a, b = tonumber(ARGV[7]), tonumber(ARGV[8])
local EXACT = 9007199254740992

-- fmod is exact where floor(x / y) may round up.
local function divmod(x, y)
  local rest = math.fmod(x, y)
  return (x - rest) / y, rest
end

-- x·y = q·m + r for y < m <= 10^12: long multiplication by digits of 12 bits.
local function mulDiv(x, y, m)
  if x * y < EXACT then
    return divmod(x * y, m)
  end
  local digits = {}
  while x > 0 do
    x, digits[#digits + 1] = divmod(x, 4096)
  end
  local q, r = 0, 0
  for i = #digits, 1, -1 do
    local more, rest = divmod(r * 4096 + digits[i] * y, m)
    q, r = q * 4096 + more, rest
  end
  return q, r
end

-- Grains per microsecond as whole tokens and grains. The number may have 19 digits, so it is divided digit by
-- digit; where the tokens exceed 2^53 a microsecond fills the bucket and they are not used.
local function rate()
  local q, r = 0, 0
  for digit in string.gmatch(ARGV[4], '%d') do
    local more, rest = divmod(r * 10 + tonumber(digit), D)
    q, r = q * 10 + more, rest
  end
  return q, r
end

local now
if injected == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = tonumber(injected)
end

-- A decimal as whole and k/m; other clients may write it with fewer digits or with an exponent.
local function decimal(text, m)
  local whole, digits = string.match(text, '^(%-?%d+)%.?(%d*)$')
  local w, fraction
  if whole then
    w, fraction = tonumber(whole), tonumber('0.' .. digits .. '0')
  else
    local number = tonumber(text)
    if not number or number ~= number or math.abs(number) > EXACT then
      return nil
    end
    w = math.floor(number)
    fraction = number - w
  end
  local k = math.floor(fraction * m + 0.5)
  if k >= m then
    return w + 1, 0
  end
  return w, k
end

local stored = redis.call('HMGET', key, 't', 'l')
local tokens, grains, at = capacity, 0, now
if stored[1] and stored[2] then
  local t, k = decimal(stored[1], D)
  local lastMs, lastMicros = decimal(stored[2], 1000)
  if not t or not lastMs or t < 0 then
    return redis.error_reply('STATEMISMATCH expected tokens and an instant')
  end
  local last = lastMs * 1000 + lastMicros
  local elapsed = math.max(0, now - last)
  at = math.max(now, last)
  if t < capacity and elapsed < toFill then
    local perMicro, grainsPerMicro = rate()
    local more, rest = mulDiv(elapsed, grainsPerMicro, D)
    tokens, grains = t + more, k + rest
    if elapsed > 0 then
      tokens = tokens + elapsed * perMicro
    end
    if grains >= D then
      tokens, grains = tokens + 1, grains - D
    end
    if tokens >= capacity then
      tokens, grains = capacity, 0
    end
  end
elseif redis.call('EXISTS', key) == 1 then
  return redis.error_reply('STATEMISMATCH expected a token bucket')
end

local function write()
  local missing, perMicro = capacity - tokens, tonumber(ARGV[4])
  local ttl
  if missing * D < EXACT and perMicro < EXACT then
    local micros, rest = divmod(missing * D - grains, perMicro)
    ttl = math.ceil((at - now + micros + (rest > 0 and 1 or 0)) / 1000)
  else
    -- Not exact, so a millisecond more: a key that stays too long says the same as none.
    ttl = math.ceil((at - now + (missing * D - grains) / perMicro * (1 + 1e-15)) / 1000) + 1
  end
  ttl = math.max(1, ttl)
  if injected ~= '' then
    ttl = math.max(ttl, 3600000)
  end
  local ms = math.floor(at / 1000)
  redis.call('HSET', key,
    't', string.format('%.0f.', tokens) .. string.sub(string.format('%.17f', grains / D), 3),
    'l', string.format('%.0f.%03d', ms, at - ms * 1000))
  redis.call('PEXPIRE', key, string.format('%.0f', ttl))
end

local granted = 0
if op == 'check' then
  local units = math.min(b, tokens)
  if units >= a then
    granted = units
    tokens = tokens - units
    write()
  end
elseif op == 'refund' then
  if tokens < capacity then
    granted = a
    tokens = tokens + a
    if tokens >= capacity then
      tokens, grains = capacity, 0
    end
    write()
  end
end
return {granted, now, at, tokens, grains}
