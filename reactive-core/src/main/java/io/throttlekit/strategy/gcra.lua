-- GCRA: the Lua writing of Gcra.java, which documents the arguments and the reply of each operation.
--
-- KEYS[1] the key; ARGV[1] an injected clock in epoch microseconds, or '' for the server's; ARGV[2] the
-- operation; ARGV[3] L, then the operation's numbers.
--
-- The value is TAT: epoch ms, a point, 3 digits of microseconds, 17 digits of k/L. Everything below is sums
-- and comparisons of whole numbers below 2^53, which a double holds exactly.
local key, injected, op, L = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])

local now
if injected == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = tonumber(injected)
end

local stored = redis.call('GET', key)
local whole, part = now, 0
local present = false
if stored then
  local ms, digits = string.match(stored, '^(%-?%d+)%.?(%d*)$')
  if not ms then
    return redis.error_reply('STATEMISMATCH expected an instant')
  end
  local w = tonumber(ms) * 1000 + tonumber(string.sub(digits .. '000', 1, 3))
  local p = math.floor(tonumber('0.' .. string.sub(digits, 4) .. '0') * L + 0.5)
  if p >= L then
    w, p = w + 1, 0
  end
  if w > now or (w == now and p > 0) then
    whole, part, present = w, p, true
  end
end

local function write(w, p)
  local micros = w + (p > 0 and 1 or 0) - now
  local ttl = math.max(1, math.ceil(micros / 1000))
  if injected ~= '' then
    ttl = math.max(ttl, 3600000)
  end
  local ms = math.floor(w / 1000)
  local value = string.format('%.0f.%03d', ms, w - ms * 1000) .. string.sub(string.format('%.17f', p / L), 3)
  redis.call('SET', key, value, 'PX', string.format('%.0f', ttl))
end

local granted = 0
if op == 'check' then
  -- Room: tau less the distance of TAT.
  local roomWhole, roomPart = tonumber(ARGV[4]) - (whole - now), tonumber(ARGV[5]) - part
  if roomPart < 0 then
    roomWhole, roomPart = roomWhole - 1, roomPart + L
  end
  local least, most = tonumber(ARGV[6]), tonumber(ARGV[7])
  local takeWhole, takePart = tonumber(ARGV[8]), tonumber(ARGV[9])
  if takeWhole < roomWhole or (takeWhole == roomWhole and takePart <= roomPart) then
    granted = least
    -- The largest power of two that still fits, then the next: the binary digits of what is left.
    for i = #ARGV - 1, 10, -2 do
      local units = 2 ^ ((i - 10) / 2)
      if granted + units <= most then
        local w, p = takeWhole + tonumber(ARGV[i]), takePart + tonumber(ARGV[i + 1])
        if p >= L then
          w, p = w + 1, p - L
        end
        if w < roomWhole or (w == roomWhole and p <= roomPart) then
          granted, takeWhole, takePart = granted + units, w, p
        end
      end
    end
    whole, part = whole + takeWhole, part + takePart
    if part >= L then
      whole, part = whole + 1, part - L
    end
    write(whole, part)
  end
elseif op == 'refund' then
  if present then
    granted = 1
    whole, part = whole - tonumber(ARGV[4]), part - tonumber(ARGV[5])
    if part < 0 then
      whole, part = whole - 1, part + L
    end
    if whole > now or (whole == now and part > 0) then
      write(whole, part)
    else
      redis.call('DEL', key)
      whole, part = now, 0
    end
  end
end
return {granted, now, whole, part}
