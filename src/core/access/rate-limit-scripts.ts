/** Lua scripts that Redis runs atomically to count requests. */

/**
 * Counts one request. Uses the clock of Redis, so that instances with different clocks share a
 * window. The window is stored with the count instead of relying on the key's expiry, whose last
 * millisecond belongs to the next minute; expiry only frees the memory of idle keys.
 */
export const TAKE_SCRIPT = `
local time = redis.call('TIME')
local window = math.floor(time[1] / 60)
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local count = 1
if redis.call('HGET', KEYS[1], 'window') == tostring(window) then
  count = redis.call('HINCRBY', KEYS[1], 'count', 1)
else
  redis.call('HSET', KEYS[1], 'window', tostring(window), 'count', 1)
  redis.call('PEXPIRE', KEYS[1], 120000)
end
return {count, now_ms}
`;

const NOW = `
local time = redis.call('TIME')
local window = tostring(math.floor(time[1] / 60))
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local function of(key)
  if redis.call('HGET', key, 'window') ~= window then return 0 end
  return tonumber(redis.call('HGET', key, 'count'))
end
local function add(key, amount)
  local count = math.max(0, of(key) + amount)
  redis.call('HSET', key, 'window', window, 'count', string.format('%.0f', count))
  redis.call('PEXPIRE', key, 120000)
end
`;

/** Arguments: amount and limit per counter. Returns the 1-based index of the refusing counter and its count. */
export const TAKE_PARTS_SCRIPT = `${NOW}
for index, key in ipairs(KEYS) do
  local count = of(key)
  if count + tonumber(ARGV[2 * index - 1]) > tonumber(ARGV[2 * index]) then
    return {index, count, now_ms}
  end
end
for index, key in ipairs(KEYS) do add(key, tonumber(ARGV[2 * index - 1])) end
return {0, 0, now_ms}
`;

/** Arguments: the minute being corrected, then one amount per counter. */
export const CORRECT_SCRIPT = `${NOW}
for index, key in ipairs(KEYS) do
  local amount = tonumber(ARGV[index + 1])
  if amount > 0 or ARGV[1] == window then add(key, amount) end
end
return 0
`;
