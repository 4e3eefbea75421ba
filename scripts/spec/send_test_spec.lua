local push = require "push"
local describe, it = push.test.describe, push.test.it

describe("test send", function()
  it("reports a result and a reason for each device", function()
    local run = push.run "../send_test.lua"
    push.expect({ run.result.sent, run.result.failed }).to.equal { 3, 2 }
    local log = table.concat(run.log, "\n")
    push.expect(log).to.match "old%-iphone +apns +%w+ +Unregistered: "
    push.expect(log).to.match "surface +wns +ChannelThrottled +channelthrottled: "
    push.expect(log).to.match "pixel +fcm +Success"
  end)

  it("reaches at most ten devices", function()
    push.account { username = "alice", password = push.secret "demo_password" }
    local session = push.login { username = "alice", password = push.secret "demo_password" }
    for i = 1, 14 do session:register { device = push.device { name = "phone-" .. i }, tags = { "beta" } } end
    local outcome = push.send { to = "beta", alert = "test", test = true }
    push.expect(#outcome.devices).to.equal(10)
    push.expect(push.send({ to = "beta", alert = "all" }).sent).to.equal(14)
  end)

  it("reports that no device matches", function()
    push.expect(push.send({ to = "gamma", alert = "test", test = true }).state).to.equal "NoTargetFound"
  end)
end)
