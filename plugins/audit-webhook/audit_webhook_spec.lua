--- Tests of audit-webhook.   pushhost plugin test audit-webhook
local push = require "push"
local describe, it = push.test.describe, push.test.it

local URL = "https://audit.example.com/push"
local secrets = { audit = "between us" }

-- Loads the plugin with a server that answers with this status; nil for no server. Loading it again keeps its stored values.
local function audit(status, config)
  local values = { url = URL, secret = "audit" }
  for key, value in pairs(config or {}) do values[key] = value end
  return push.test.plugin {
    config = values, secrets = secrets, http = status and { [URL] = { status = status } } or {},
  }
end

local function phone(name)
  local device = push.device { name = name }
  push.install(name, { device = device, tags = { "World" } })
  return device
end

local function say(text) return push.send { to = "World", alert = text or "Hello" } end

local function ids(plugin)
  local all = {}
  for place, request in ipairs(plugin:asked()) do all[place] = request.json.notification end
  return all
end

describe("audit webhook", function()
  it("reports how a notification ended", function()
    local plugin = audit(204)
    phone "ana"
    local outcome = say()
    local told = plugin:asked()[1]
    push.expect({ told.method, told.url, told.headers["content-type"] }).to.equal { "POST", URL, "application/json" }
    local news = told.json
    push.expect({ news.event, news.hub, news.notification }).to.equal { "notification.ended", "hub", outcome.id }
    push.expect({ news.state, news.tags, news.sent, news.failed, news.total }).to.equal { "Completed", "World", 1, 0, 1 }
    push.expect(news.counts).to.equal { apns = { Success = 1 } }
    push.expect(news.ended_at).to.exist()
    push.expect(plugin:log()).to.equal {}
  end)

  it("signs the time and the body, with an id to recognize duplicates", function()
    local plugin = audit(200)
    phone "ana"
    local outcome = say()
    local told = plugin:asked()[1]
    push.expect(told.headers["idempotency-key"]).to.equal("hub/" .. outcome.id)
    local time, seal = told.headers["pushhost-signature"]:match "^t=(%d+),v1=(%x+)$"
    push.expect(push.clock.now() - tonumber(time)).to.be_below(60)
    push.expect(seal).to.equal(push.sign(secrets.audit, time .. "." .. told.body))
    push.expect(seal).to_not.equal(push.sign(secrets.audit:upper(), time .. "." .. told.body))
  end)

  it("stores reports while the server is down, and sends them in order later", function()
    phone "ana"
    local down = audit(503)
    local sent = { say("1").id, say("2").id, say("3").id }
    push.expect(ids(down)).to.equal { sent[1] } -- one request, then a pause
    push.expect(down:log()[1]).to.contain "is retried in 30 s: it answered 503"
    local up = audit(200)
    push.clock.advance "2m"
    push.expect(ids(up)).to.equal(sent)
    push.expect(up:log()).to.equal {}
    sent[4] = say("4").id
    push.expect(ids(up)).to.equal(sent)
  end)

  it("retries less and less often, at least once an hour", function()
    phone "ana"
    local down = audit()
    say()
    push.clock.advance "10m"
    push.expect(#down:asked()).to.equal(5) -- after 0, 1, 2, 4 and 8 minutes
    push.clock.advance "12h"
    local before = #down:asked()
    push.clock.advance "3h"
    push.expect(#down:asked() - before).to.be_at_least(2)
    push.expect(#down:asked() - before).to.be_at_most(3)
  end)

  it("drops the oldest if too many are pending, and logs it", function()
    phone "ana"
    local down = audit(500, { most_waiting = 2 })
    local sent = { say("1").id, say("2").id, say("3").id }
    push.expect(down:log()[2]).to.equal(("warn the report of hub/%s is dropped: too many are pending"):format(sent[1]))
    local up = audit(200)
    push.clock.advance "2m"
    push.expect(ids(up)).to.equal { sent[2], sent[3] }
  end)

  it("drops a report that is always rejected, so that later ones can follow", function()
    phone "ana"
    audit(400, { give_up_after = "1h" })
    local first = say("1").id
    push.clock.advance "59m"
    local second = say("2").id
    local up = audit(200, { give_up_after = "1h" })
    push.clock.advance "1h"
    push.expect(up:log()[1]).to.contain(first .. " is dropped: it was pending for too long")
    push.expect(ids(up)).to.equal { second }
  end)

  it("reports only failures if configured so", function()
    local plugin = audit(200, { failures_only = true })
    local ana = phone "ana"
    say()
    ana:rotate_token()
    local lost = say()
    push.expect(ids(plugin)).to.equal { lost.id }
    push.expect(plugin:asked()[1].json.failed).to.equal(1)
  end)

  it("stores reports if its host is not granted, and logs the missing grant", function()
    phone "ana"
    local plugin = push.test.plugin {
      config = { url = URL, secret = "audit" }, secrets = { audit = "x" }, grants = { "kv", "http:other.example.com" },
    }
    say()
    push.expect(#plugin:asked()).to.equal(0)
    push.expect(plugin:log()[1]).to.contain "was not granted http:audit.example.com"
    local up = audit(200)
    push.clock.advance "2m"
    push.expect(#up:asked()).to.equal(1)
  end)

  local mistakes = {
    { config = { secret = "audit" }, says = "config.url is missing" },
    { config = { url = URL }, says = "config.secret is missing" },
    { config = { url = URL, secret = "adit" }, says = "config.secret names the secret \"adit\", which does not exist" },
    { config = { url = "audit.example.com", secret = "audit" }, says = "config.url is not a URL" },
  }
  for _, mistake in ipairs(mistakes) do
    it("rejects an invalid configuration: " .. mistake.says, function()
      local is_live, failure = pcall(push.test.plugin, { config = mistake.config, secrets = secrets })
      push.expect(is_live).to.be_false()
      push.expect(failure.message).to.contain(mistake.says)
    end)
  end
end)
