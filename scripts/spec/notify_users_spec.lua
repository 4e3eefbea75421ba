local push = require "push"
local describe, it = push.test.describe, push.test.it

describe("notify users", function()
  it("reaches every device of the user, with the text", function()
    local run = push.run("../notify_users.lua", { user = "bob", devices = 3, text = "Your parcel is here" })
    push.expect(run.result.sent).to.equal(3)
    for _, phone in ipairs(push.devices { user = nil }) do
      push.expect(#phone:inbox()).to.equal(1)
      push.expect(phone:inbox()[1].text).to.equal "Your parcel is here"
    end
  end)

  it("reaches no other user, on any platform", function()
    push.account { username = "eve", password = push.secret "demo_password" }
    local eve = push.login { username = "eve", password = push.secret "demo_password" }
    local phones = {}
    for i, platform in ipairs { "apns", "fcm", "gcm", "wns", "browser" } do
      phones[i] = push.device { name = "eve-" .. platform, platform = platform }
      eve:register { device = phones[i], tags = { "phone" } }
    end
    push.run "../notify_users.lua"
    for _, phone in ipairs(phones) do push.expect(#phone:inbox()).to.equal(0) end
  end)

  it("registers again after the hub has removed an invalid token: 410, a new id, one retry", function()
    push.run("../notify_users.lua", { devices = 1 })
    local phone = push.find_device "alice-1"
    local dead = phone:storage().registrationId
    phone:rotate_token()
    local lost = push.send { to = push.tag.user "alice", alert = "lost" }
    push.expect(lost.devices[1].reason).to.equal "Unregistered"
    push.expect(lost.devices[1].registration_removed).to.be_true()

    local session = push.login { username = "alice", password = push.secret "demo_password" }
    local again = session:register { device = phone, tags = { "phone" } }
    push.expect(again.id).to_not.equal(dead)
    push.expect(again.tags).to.contain "username:alice"
    push.expect(push.send({ to = push.tag.user "alice", alert = "found" }).sent).to.equal(1)
    push.expect(phone:wait_for { alert = "found", within = "5s" }).to.exist()
  end)

  it("does not delay other platforms if one rejects", function()
    push.account { username = "carol", password = push.secret "demo_password" }
    local carol = push.login { username = "carol", password = push.secret "demo_password" }
    for _, platform in ipairs { "apns", "fcm", "wns", "browser" } do
      carol:register { device = push.device { name = platform, platform = platform } }
    end
    push.simulator.fcm:fail { reason = "SENDER_ID_MISMATCH" }
    local outcome = push.send { to = push.tag.user "carol", alert = "Hello" }
    push.expect(outcome.state).to.equal "Completed"
    push.expect({ outcome.sent, outcome.failed }).to.equal { 3, 1 }
    for _, platform in ipairs { "apns", "wns", "browser" } do
      push.expect(push.find_device(platform):wait_for { contains = "Hello", within = "5s" }).to.exist()
    end
    push.expect(#push.find_device("fcm"):inbox()).to.equal(0)
  end)

  it("names the sender in a text from one user to another", function()
    push.run("../notify_users.lua", { user = "bob", devices = 1 })
    push.account { username = "alice", password = push.secret "demo_password" }
    local alice = push.login { username = "alice", password = push.secret "demo_password" }
    alice:send { to = "bob", alert = "see you at noon" }
    push.expect(push.find_device("bob-1"):wait_for { alert = "From alice: see you at noon", within = "5s" }).to.exist()
  end)

  it("warns if no device matches, and suggests near misses", function()
    push.run("../notify_users.lua", { user = "alice" })
    local outcome = push.send { to = push.tag.user "alise", alert = "Hello" }
    push.expect(outcome.state).to.equal "NoTargetFound"
    push.expect(outcome.near[1]).to.contain "username:alice"
  end)
end)
