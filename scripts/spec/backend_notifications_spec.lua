local push = require "push"
local describe, it = push.test.describe, push.test.it

describe("the app backend's notifications", function()
  it("send the text of one user to another", function()
    push.account { username = "bob", password = push.secret "demo_password" }
    local bob = push.login { username = "bob", password = push.secret "demo_password" }
    local phone = push.device { name = "bob-1", platform = "apns" }
    bob:register { device = phone }
    local run = push.run("../backend_notifications.lua", { user = "alice", to = "bob", text = "Lunch?" })
    push.expect(run.result.notification_id).to.exist()
    push.expect(#phone:inbox()).to.equal(1)
    push.expect(phone:inbox()[1].text).to.equal "From alice: Lunch?"
    push.expect(#push.find_device("alice-1"):inbox()).to.equal(0)
  end)

  it("greet the user who asks", function()
    push.run("../backend_notifications.lua", { kind = "greeting" })
    push.expect(push.find_device("alice-1"):inbox()[1].text).to.equal "From alice: Hello, alice"
  end)

  it("store a payload, and send only its id", function()
    local run = push.run("../backend_notifications.lua", { kind = "secure", payload = "\"at the old bridge\"" })
    push.expect(run.result.status).to.equal(201)
    local pushes = push.wire "apns"
    push.expect(#pushes).to.equal(1)
    push.expect(pushes[1].body:find("bridge", 1, true)).to_not.exist()
    push.expect(pushes[1].body:find(run.result.body.id, 1, true)).to.exist()
    local alice = push.login { username = "alice", password = push.secret "demo_password" }
    push.expect(alice:fetch_secure_payload(run.result.body.id)).to.equal "at the old bridge"
  end)
end)
