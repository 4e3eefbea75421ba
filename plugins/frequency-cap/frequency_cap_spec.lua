--- Tests of frequency-cap.   pushhost plugin test frequency-cap
local push = require "push"
local describe, it = push.test.describe, push.test.it

local function phone(name, tags, templates)
  local device = push.device { name = name }
  push.install(name, { device = device, tags = tags or {}, templates = templates })
  return device
end

local function shown(device) return #device:inbox() end

local function say(text, more)
  local send = { to = push.everyone, alert = text or "Hello" }
  for key, value in pairs(more or {}) do send[key] = value end
  return push.send(send)
end

describe("frequency cap", function()
  it("delivers up to the limit per device, and gives a reason for skipping others", function()
    local plugin = push.test.plugin { config = { limit = 2, within = "1h" } }
    local ana = phone "ana"
    push.expect({ say().sent, say().sent }).to.equal { 1, 1 }
    local bob = phone "bob"
    local outcome = say "Third"
    push.expect({ shown(ana), shown(bob) }).to.equal { 2, 1 }
    local skipped = outcome.devices[1].outcome == "Skipped" and outcome.devices[1] or outcome.devices[2]
    push.expect(skipped.name).to.equal "ana"
    push.expect(skipped.explanation).to.equal "frequency-cap: more than 2 notifications within 1 h"
    push.expect(plugin:log()).to.equal {}
  end)

  it("allows three a day by default", function()
    push.test.plugin {}
    local ana = phone "ana"
    for _ = 1, 5 do say() end
    push.expect(shown(ana)).to.equal(3)
  end)

  it("counts within any such period, not by calendar day", function()
    push.test.plugin { config = { limit = 2, within = "1h" } }
    local ana = phone "ana"
    say "0 min"
    push.clock.advance "40m"
    say "40 min"
    push.clock.advance "19m"
    say "59 min"
    push.expect(shown(ana)).to.equal(2)
    push.clock.advance "2m" -- only the first one is more than an hour ago now
    say "61 min"
    say "61 min, again"
    push.expect(shown(ana)).to.equal(3)
  end)

  it("counts templates of one installation as one device", function()
    push.test.plugin { config = { limit = 1 } }
    local ana = phone("ana", {}, { one = '{"aps":{"alert":"$(text)"}}', two = [[{"aps":{"alert":"{'Again: ' + $(text)}"}}]] })
    push.send { to = push.everyone, properties = { text = "Hello" } }
    push.expect(shown(ana)).to.equal(2)
    push.send { to = push.everyone, properties = { text = "Hello" } }
    push.expect(shown(ana)).to.equal(2)
  end)

  it("counts registrations that belong to no installation too", function()
    push.test.plugin { config = { limit = 1 } }
    local ana = push.device { name = "ana" }
    push.subscribe { device = ana, categories = { "World" } }
    for _ = 1, 2 do push.send { to = "World", properties = { messageParam = "News" } } end
    push.expect(shown(ana)).to.equal(1)
  end)

  it("counts installations however long their ids are", function()
    local plugin = push.test.plugin { config = { limit = 1 } }
    local ana, bob = phone("a" .. ("漢"):rep(90)), phone("b" .. ("漢"):rep(90))
    push.expect({ say().sent, say().sent }).to.equal { 2, 0 }
    push.expect({ shown(ana), shown(bob) }).to.equal { 1, 1 }
    push.expect(plugin:log()).to.equal {}
  end)

  it("starts counting again if it is configured with another period", function()
    phone "ana"
    push.test.plugin { config = { limit = 1, within = "1h" } }
    push.expect({ say().sent, say().sent }).to.equal { 1, 0 }
    push.test.plugin { config = { limit = 1, within = "2h" } }
    push.expect({ say().sent, say().sent }).to.equal { 1, 0 }
    push.clock.advance "90m"
    push.expect(say().sent).to.equal(0)
  end)

  it("does not cap direct sends", function()
    push.test.plugin { config = { limit = 1 } }
    local ana = phone "ana"
    for _ = 1, 3 do push.send { device = ana, alert = "Hello" } end
    push.expect(shown(ana)).to.equal(3)
  end)

  it("neither caps nor counts exempt devices and priorities", function()
    local plugin = push.test.plugin { config = { limit = 1, exempt_tags = { "vip" }, exempt_priorities = { "high" } } }
    local ana, eve = phone "ana", phone("eve", { "staff", "vip" })
    say("Fire", { priority = "high" })
    say "one"
    say "two"
    say("Fire again", { priority = "high" })
    push.expect({ shown(ana), shown(eve) }).to.equal { 3, 4 }
    push.expect(plugin:log()).to.equal {}
  end)

  it("handles more devices than a page has", function()
    local plugin = push.test.plugin { config = { limit = 1 } }
    for number = 1, 1005 do phone("crowd-" .. number) end
    push.expect(say().sent).to.equal(1005)
    phone "late"
    local outcome = say()
    push.expect({ outcome.sent, outcome.counts.apns.Skipped }).to.equal { 1, 1005 }
    push.expect(plugin:log()).to.equal {}
  end)

  it("delivers notifications without its grants, and logs that", function()
    local plugin = push.test.plugin { grants = { "hub.read" }, config = { limit = 1 } }
    local ana = phone "ana"
    say()
    say()
    push.expect(shown(ana)).to.equal(2)
    push.expect(plugin:log()[1]).to.contain "was not granted kv"
  end)

  local mistakes = {
    { config = { limit = 0 }, says = "config.limit must be at least 1, got 0" },
    { config = { within = "often" }, says = "config.within must be a duration" },
    { config = { exempt_priorities = { "urgent" } }, says = "config.exempt_priorities[1] must be one of high, normal, low, got \"urgent\"" },
  }
  for _, mistake in ipairs(mistakes) do
    it("rejects an invalid configuration: " .. mistake.says, function()
      local is_live, failure = pcall(push.test.plugin, { config = mistake.config })
      push.expect(is_live).to.be_false()
      push.expect(failure.message).to.contain(mistake.says)
    end)
  end
end)
