--- Nobody is woken at night: who has a time zone gets notifications once the night is over there.   docs/plugins/quiet-hours.md
local push = require "push"

-- Tags have no slash: Europe/Lisbon is time_zone:Europe.Lisbon. Zones that no tag can name are left out: Etc/GMT+1.
local zone_of = {} -- by their tags
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

-- What becomes of devices of a zone; nil while it is day there.
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
  -- Of a device the first one holds: with tags of two zones it sleeps while it is night in one of them, until the later morning.
  table.sort(nights, function(a, b) return (a.hold_until or a.tag) > (b.hold_until or b.tag) end)
  table.move(nights, 1, #nights, #rulings + 1, rulings)
  -- Where it is day, the night of the default zone must not matter.
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
  desc = "Devices get notifications once the night is over where they are",

  config = {
    from = { type = "time_of_day", default = "22:00", desc = "when the night begins, on the clocks of the device's time zone" },
    to = { type = "time_of_day", default = "07:00", desc = "when it ends; earlier than from: the next day" },
    mode = {
      type = "string", default = "hold", choices = { "hold", "skip" },
      desc = "hold: they get it when the night ends; skip: they do not get it",
    },
    default_time_zone = { type = "time_zone", desc = "of devices without a tag time_zone:…; none: these are never quiet" },
    exempt_tag = { type = "tag", desc = "devices with this tag are never quiet" },
    high_is_urgent = { type = "boolean", default = true, desc = "whether priority high goes out by night" },
    urgent_property = { type = "string", default = "urgent", desc = "a template property that lets a notification out by night" },
  },

  hooks = {
    before_deliver = {
      on_failure = "fail_open", -- a notification by night is better than none
      cpu = "500ms",
      timeout = "5s",
      run = rulings_about,
    },
  },
}
