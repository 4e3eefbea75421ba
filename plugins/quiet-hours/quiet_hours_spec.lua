--- Tests of quiet-hours.   pushhost plugin test quiet-hours
local push = require "push"
local describe, it = push.test.describe, push.test.it

local function tag_of(zone) return "time_zone:" .. zone:gsub("/", ".") end

-- Installs the app on a phone with the tag of a zone. Installing it again with another zone moves the phone.
local function install(device, zone, tags)
  local all = { table.unpack(tags or {}) }
  if zone then all[#all + 1] = tag_of(zone) end
  push.install(device.name, { device = device, tags = all })
  return device
end

local function phone(name, zone, tags) return install(push.device { name = name }, zone, tags) end

-- Advances the clock to a time in UTC. A test begins on Monday, 5 January 2026, at 09:00 UTC.
local function go_to(year, month, day, hour, minute)
  push.clock.advance(os.time { year = year, month = month, day = day, hour = hour, min = minute or 0 } - push.clock.now())
end

-- Lets work that has started at the current time end.
local function soon() push.clock.advance "5s" end

-- How many notifications the phone shows.
local function shown(device) return #device:inbox() end

local function say(text) return push.send { to = push.everyone, alert = text or "Hello" } end

describe("quiet hours", function()
  it("let through what is sent by day", function()
    local plugin = push.test.plugin {}
    local ana = phone("ana", "Europe/Lisbon")
    push.expect(say("Lunch").sent).to.equal(1)
    push.expect(shown(ana)).to.equal(1)
    push.expect(plugin:log()).to.equal {}
  end)

  it("defer what is sent by night until the night ends there, at a separate time in each zone", function()
    local plugin = push.test.plugin {}
    local ana, bob = phone("ana", "Europe/Lisbon"), phone("bob", "America/New_York")
    go_to(2026, 1, 6, 3) -- 03:00 in Lisbon, 22:00 in New York
    local outcome = say "Night"
    push.expect(outcome.sent).to.equal(0)
    push.expect(outcome.notices[1]).to.contain "quiet hours in Europe/Lisbon until 07:00"
    go_to(2026, 1, 6, 6, 59)
    push.expect({ shown(ana), shown(bob) }).to.equal { 0, 0 }
    go_to(2026, 1, 6, 7)
    soon()
    push.expect({ shown(ana), shown(bob) }).to.equal { 1, 0 }
    go_to(2026, 1, 6, 11, 59)
    push.expect(shown(bob)).to.equal(0)
    go_to(2026, 1, 6, 12)
    soon()
    push.expect({ shown(ana), shown(bob) }).to.equal { 1, 1 }
    push.expect(ana:inbox()[1].text).to.equal "Night"
    push.expect(push.outcome(outcome.id).sent).to.equal(2)
    push.expect(plugin:log()).to.equal {}
  end)

  it("let a device with two zones sleep while it is night in one of them, until the later morning", function()
    push.test.plugin {}
    local names = {}
    for _, zone in ipairs { "America/New_York", "America/Los_Angeles", "Asia/Tokyo", "Asia/Kolkata", "Australia/Sydney" } do
      names[#names + 1] = phone("away-" .. #names, "Europe/Lisbon", { tag_of(zone) })
    end
    local both = phone("both", "Europe/Lisbon", { tag_of "America/New_York" })
    go_to(2026, 1, 6, 1) -- 01:00 in Lisbon: night there and in India, day in the others
    push.expect(say("Night").sent).to.equal(0)
    for _, device in ipairs(names) do push.expect(shown(device)).to.equal(0) end
    go_to(2026, 1, 7, 4) -- 04:00 in Lisbon, 23:00 in New York
    local before = shown(both)
    say "Later"
    go_to(2026, 1, 7, 7)
    soon()
    push.expect(shown(both)).to.equal(before)
    go_to(2026, 1, 7, 12)
    soon()
    push.expect(shown(both)).to.equal(before + 1)
  end)

  -- 07:00 local time in UTC: on the morning after the clocks changed, and in zones with unusual offsets.
  local mornings = {
    { zone = "Europe/Lisbon", sent = { 2026, 3, 28, 23 }, wake = { 2026, 3, 29, 6 } }, -- clocks go forward
    { zone = "Europe/Lisbon", sent = { 2026, 10, 24, 23 }, wake = { 2026, 10, 25, 7 } }, -- and back
    { zone = "America/New_York", sent = { 2026, 3, 8, 4 }, wake = { 2026, 3, 8, 11 } },
    { zone = "America/New_York", sent = { 2026, 11, 1, 4 }, wake = { 2026, 11, 1, 12 } },
    { zone = "Asia/Kolkata", sent = { 2026, 3, 1, 20 }, wake = { 2026, 3, 2, 1, 30 } }, -- the offset includes half an hour
    { zone = "Australia/Lord_Howe", sent = { 2026, 4, 4, 14 }, wake = { 2026, 4, 4, 20, 30 } }, -- clocks go back by half an hour
    { zone = "Australia/Lord_Howe", sent = { 2026, 10, 3, 14 }, wake = { 2026, 10, 3, 20 } }, -- and forward
    { zone = "Asia/Tokyo", sent = { 2026, 3, 28, 15 }, wake = { 2026, 3, 28, 22 } }, -- clocks never change
  }
  for _, morning in ipairs(mornings) do
    it(("end at 07:00 in %s in month %d"):format(morning.zone, morning.wake[2]), function()
      push.test.plugin {}
      local ana = phone("ana", morning.zone)
      go_to(table.unpack(morning.sent))
      say()
      local year, month, day, hour, minute = table.unpack(morning.wake)
      go_to(year, month, day, hour, (minute or 0) - 1)
      push.expect(shown(ana)).to.equal(0)
      push.clock.advance "1m"
      soon()
      push.expect(push.clock.zone(morning.zone).hour).to.equal(7)
      push.expect(shown(ana)).to.equal(1)
    end)
  end

  it("begin and end to the minute, and may be by day", function()
    push.test.plugin { config = { from = "12:00", to = "13:00" } }
    local ana = phone("ana", "Europe/Lisbon")
    go_to(2026, 1, 6, 11, 59)
    push.expect(say("before").sent).to.equal(1)
    go_to(2026, 1, 6, 12)
    say "within"
    push.expect(shown(ana)).to.equal(1)
    go_to(2026, 1, 6, 13)
    soon()
    push.expect(shown(ana)).to.equal(2)
    push.expect(say("after").sent).to.equal(1)
  end)

  it("keep a device deferred that has moved to where it is still night", function()
    push.test.plugin {}
    local ana = phone("ana", "Europe/Lisbon")
    go_to(2026, 1, 6, 3)
    say()
    install(ana, "America/New_York")
    go_to(2026, 1, 6, 7, 1)
    push.expect(shown(ana)).to.equal(0)
    go_to(2026, 1, 6, 12)
    soon()
    push.expect(shown(ana)).to.equal(1)
  end)

  it("do not apply to a device without a zone, unless there is a default", function()
    push.test.plugin {}
    local ana = phone("ana")
    go_to(2026, 1, 6, 3)
    push.expect(say().sent).to.equal(1)

    push.test.plugin { config = { default_time_zone = "Europe/Lisbon" } }
    local tom = phone("tom", "Asia/Tokyo") -- noon there: the night of the default zone does not apply
    say()
    soon()
    push.expect({ shown(ana), shown(tom) }).to.equal { 1, 1 }
    go_to(2026, 1, 6, 7)
    soon()
    push.expect({ shown(ana), shown(tom) }).to.equal { 2, 1 }
  end)

  it("do not defer urgent notifications or those for exempt devices", function()
    local plugin = push.test.plugin { config = { exempt_tag = "on_call" } }
    local ana, eve = phone("ana", "Europe/Lisbon"), phone("eve", "Europe/Lisbon", { "on_call" })
    go_to(2026, 1, 6, 3)
    push.expect(push.send({ to = push.everyone, alert = "Fire", priority = "high" }).sent).to.equal(2)
    say "News"
    soon()
    push.expect({ shown(ana), shown(eve) }).to.equal { 1, 2 }
    push.expect(plugin:log()).to.equal {}
  end)

  it("a property says that a template is urgent, other values of it do not", function()
    push.test.plugin { config = { high_is_urgent = false } }
    local ana = push.device { name = "ana" }
    push.install("ana", {
      device = ana, tags = { tag_of "Europe/Lisbon" }, templates = { news = '{"aps":{"alert":"$(text)"}}' },
    })
    go_to(2026, 1, 6, 3)
    for place, urgent in ipairs { "yes", "false", "", "0" } do
      push.send { to = push.everyone, properties = { text = "n" .. place, urgent = urgent }, priority = "high" }
    end
    soon()
    push.expect(shown(ana)).to.equal(1)
    push.expect(ana:inbox()[1].text).to.equal "n1"
  end)

  it("may leave devices out instead, and say why", function()
    push.test.plugin { config = { mode = "skip" } }
    local ana = phone("ana", "Europe/Lisbon")
    go_to(2026, 1, 6, 3)
    local outcome = say "Offer of the night"
    push.expect(outcome.devices[1].outcome).to.equal "Skipped"
    push.expect(outcome.devices[1].explanation).to.equal "quiet-hours: quiet hours in Europe/Lisbon until 07:00"
    push.clock.advance "1d"
    push.expect(shown(ana)).to.equal(0)
  end)

  local mistakes = {
    { config = { from = "10pm" }, says = "config.from must be a time of the day such as 07:00, got \"10pm\"" },
    { config = { default_time_zone = "Europe/Lisboa" }, says = "config.default_time_zone is invalid" },
    { config = { mode = "drop" }, says = "config.mode must be one of hold, skip, got \"drop\"" },
    { config = { exempt_tag = "on call" }, says = "config.exempt_tag must be a tag" },
  }
  for _, mistake in ipairs(mistakes) do
    it("reject an invalid configuration: " .. mistake.says, function()
      local is_live, failure = pcall(push.test.plugin, { config = mistake.config })
      push.expect(is_live).to.be_false()
      push.expect(failure.code).to.equal "plugin.config"
      push.expect(failure.message).to.contain(mistake.says)
    end)
  end
end)
