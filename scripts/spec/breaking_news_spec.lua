local push = require "push"
local describe, it = push.test.describe, push.test.it

local categories = { "World", "Politics", "Business", "Technology", "Science", "Sports" }

describe("breaking news", function()
  for _, category in ipairs(categories) do
    it("reaches followers of " .. category, function()
      local run = push.run("../breaking_news.lua", { category = category, text = "It happened" })
      push.expect(run.result.sent).to.equal(#run.result.told)
      for _, name in ipairs(run.result.told) do
        push.expect(push.find_device(name):inbox()[1].text).to.equal("Breaking " .. category .. " News: It happened")
      end
    end)
  end

  it("is one template send for four platforms", function()
    push.run("../breaking_news.lua", { category = "Technology" })
    local hosts = {}
    for _, exchange in ipairs(push.wire()) do hosts[exchange.service] = true end
    push.expect(hosts).to.equal { apns = true, fcm = true, browser = true }
    push.expect(#push.wire "wns").to.equal(0)
    push.expect(push.wire("apns")[1].json.aps.alert).to.equal "Breaking Technology News: Lua turns thirty-three"
  end)

  it("uses the language of each phone, or English if there is none", function()
    local run = push.run("../breaking_news.lua", { category = "Technology", localized = true })
    push.expect(run.result.told).to.equal { "ana", "wei", "zoé" }
    push.expect(push.find_device("ana"):inbox()[1].text).to.equal "Última hora, Technology: Lua turns thirty-three"
    push.expect(push.find_device("zoé"):inbox()[1].text).to.equal "Flash info Technology : Lua turns thirty-three"
    push.expect(push.find_device("wei"):inbox()[1].text).to.equal "Breaking Technology News: Lua turns thirty-three"
  end)

  it("subscribing again replaces the categories, and the phone remembers them", function()
    push.run "../breaking_news.lua"
    local ana = push.find_device "ana"
    push.subscribe { device = ana, categories = { "Sports" } }
    push.expect(ana:categories()).to.equal { "Sports" }
    push.expect(push.send({ to = "Science", properties = { messageParam = "x" } }).state).to.equal "NoTargetFound"
    push.send { to = "Sports", properties = { messageParam = "goal" } }
    push.expect(ana:wait_for { alert = "goal", within = "5s" }).to.exist()

    push.unsubscribe { device = ana }
    push.expect(ana:categories()).to.equal {}
    push.send { to = "Sports", properties = { messageParam = "again" } }
    push.expect(ana:wait_for { alert = "again", within = "5s" }).to.be_nil()
  end)

  it("reaches a phone with a new token after it has subscribed again", function()
    push.run "../breaking_news.lua"
    local ana = push.find_device "ana"
    ana:rotate_token()
    local lost = push.send { to = "Science", properties = { messageParam = "lost" } }
    push.expect(lost.devices[1].registration_removed).to.be_true()
    push.subscribe { device = ana, categories = ana:categories() } -- 410: repeated with a new registration id
    push.send { to = "Science", properties = { messageParam = "found" } }
    push.expect(ana:wait_for { alert = "found", within = "5s" }).to.exist()
  end)

  it("reports that nothing was sent if there are no followers", function()
    local outcome = push.send { to = "Sport", properties = { messageParam = "x" } }
    push.expect(outcome.state).to.equal "NoTargetFound"
    push.expect(outcome.sent).to.equal(0)
    push.expect(#push.wire()).to.equal(0)
  end)
end)
