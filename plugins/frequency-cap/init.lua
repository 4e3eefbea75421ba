--- Limits how many notifications a device gets within a period.   docs/reference/plugins/frequency-cap.md
local push = require "push"

-- The maximum number of keys in one call of push.kv.take.
local PAGE = 1000

-- Identifies a device by its installation, so that all its templates count as one; nil for a token without a registration.
local function name_of(device)
  if device.installation then return "installation:" .. device.installation end
  return device.registration and "registration:" .. device.registration
end

-- The key of a device's slots. It contains the period, because the period of a key cannot change, and has at most 256 bytes.
local function key_of(hub, name)
  local key = ("%s/%s/%s"):format(hub, push.config.within, name)
  return #key <= 256 and key or push.sign(key, "a long name")
end

local function is_exempt(group)
  for _, priority in ipairs(push.config.exempt_priorities) do
    if group.priority == priority then return true end
  end
  return false
end

local function rulings_about(group)
  if group.direct or is_exempt(group) then return end
  local limit, within = push.config.limit, push.config.within
  local exempt = {}
  for _, tag in ipairs(push.config.exempt_tags) do exempt[tag] = true end

  local keys, numbers, capped = {}, {}, {}

  -- Because of the token, a device counts once even if the hook is called again: for deferred devices, or after a restart.
  local function take()
    if #keys == 0 then return end
    local granted = push.kv.take(keys, { token = group.hub .. "/" .. group.notification, limit = limit, within = within })
    for place, is_granted in ipairs(granted) do
      if not is_granted then capped[#capped + 1] = numbers[place] end
    end
    keys, numbers = {}, {}
  end

  for device in group:devices() do
    local is_capped = true
    for _, tag in ipairs(device.tags) do is_capped = is_capped and not exempt[tag] end
    local name = is_capped and name_of(device)
    if name then
      keys[#keys + 1], numbers[#numbers + 1] = key_of(group.hub, name), device.number
      if #keys == PAGE then take() end
    end
  end
  take()
  if #capped == 0 then return end
  local span = within < 3600 and ("%.4g s"):format(within) or ("%.4g h"):format(within / 3600)
  local reason = ("more than %d notifications within %s"):format(limit, span)
  return { { devices = capped, skip = true, reason = reason } }
end

return {
  name = "frequency-cap",
  version = "1.0",
  desc = "Limits how many notifications a device receives within a period",

  needs = { "hub.read", "kv" },

  config = {
    limit = { type = "integer", default = 3, min = 1, max = 1000, desc = "maximum number of notifications per device" },
    within = { type = "duration", default = "1d", desc = "period in which they are counted" },
    exempt_tags = { type = "list", of = "tag", default = {}, desc = "devices with one of these tags are not capped" },
    exempt_priorities = {
      type = "list", of = { type = "string", choices = { "high", "normal", "low" } }, default = {},
      desc = "notifications of these priorities are neither capped nor counted",
    },
  },

  hooks = {
    before_deliver = {
      on_failure = "fail_open", -- one notification too many is better than none
      cpu = "10s",
      timeout = "10s",
      run = rulings_about,
    },
  },
}
