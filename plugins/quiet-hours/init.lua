--- Defers notifications during the night in the time zone of each device.   docs/reference/plugins/quiet-hours.md
local push = require "push"

-- Tags cannot contain a slash: Europe/Lisbon is time_zone:Europe.Lisbon. Zones without a possible tag, such as Etc/GMT+1, are omitted.
local zone_of = {} -- zones by tag
local tags = {}

local function know_zones()
  if #tags > 0 then return end
  for _, zone in ipairs(push.clock.time_zones()) do
    if not zone:find "[^%w_/-]" then
      local tag = "time_zone:" .. zone:gsub("/", ".")
      zone_of[tag] = zone
      tags[#tags + 1] = tag
    end
  end
end

local function night_end(zone) return push.clock.window_end(zone, { from = push.config.from, to = push.config.to }) end

local function is_urgent(group)
  if push.config.high_is_urgent and group.priority == "high" then return true end
  local word = (group.properties or {})[push.config.urgent_property]
  return word ~= nil and word ~= "" and word ~= "false" and word ~= "0"
end

-- The ruling about the devices of a zone; nil while it is day there.
local function ruling(zone, tag)
  local wake = night_end(zone)
  if not wake then return nil end
  local reason = ("quiet hours in %s until %s"):format(zone, push.config.to)
  if push.config.mode == "skip" then return { tag = tag, skip = true, reason = reason } end
  return { tag = tag, hold_until = wake, reason = reason }
end

local function rulings_about(group)
  if is_urgent(group) then return end
  know_zones()
  local rulings = {}
  if push.config.exempt_tag then rulings[1] = { tag = push.config.exempt_tag, pass = true } end
  local nights, days = {}, {}
  for tag in pairs(group:count_tags(tags)) do
    local night = ruling(zone_of[tag], tag)
    if night then nights[#nights + 1] = night else days[#days + 1] = { tag = tag, pass = true } end
  end
  -- The first ruling counts: a device with tags of two zones is quiet while it is night in one of them, until the later morning.
  table.sort(nights, function(a, b) return (a.hold_until or a.tag) > (b.hold_until or b.tag) end)
  table.move(nights, 1, #nights, #rulings + 1, rulings)
  -- Devices in zones where it is day must not fall under the ruling of the default zone.
  table.move(days, 1, #days, #rulings + 1, rulings)
  local others = push.config.default_time_zone and ruling(push.config.default_time_zone)
  if others then
    others.all = true
    rulings[#rulings + 1] = others
  end
  return rulings
end

return {
  name = "quiet-hours",
  version = "1.0",
  desc = "Defers notifications during the night in the time zone of each device",

  config = {
    from = { type = "time_of_day", default = "22:00", desc = "start of the quiet hours, in the device's time zone" },
    to = { type = "time_of_day", default = "07:00", desc = "end of the quiet hours; on the next day if earlier than from" },
    mode = {
      type = "string", default = "hold", choices = { "hold", "skip" },
      desc = "hold: deliver when the quiet hours end; skip: do not deliver",
    },
    default_time_zone = { type = "time_zone", desc = "time zone of devices without a tag time_zone:…; if absent, they have no quiet hours" },
    exempt_tag = { type = "tag", desc = "devices with this tag have no quiet hours" },
    high_is_urgent = { type = "boolean", default = true, desc = "deliver notifications of priority high in quiet hours" },
    urgent_property = { type = "string", default = "urgent", desc = "template property that makes a notification urgent" },
  },

  hooks = {
    before_deliver = {
      on_failure = "fail_open", -- a notification at night is better than none
      cpu = "500ms",
      timeout = "5s",
      run = rulings_about,
    },
  },
}
