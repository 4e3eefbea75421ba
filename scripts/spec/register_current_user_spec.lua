local push = require "push"
local describe, it = push.test.describe, push.test.it

local function login(user)
  push.account { username = user, password = push.secret "demo_password" }
  return push.login { username = user, password = push.secret "demo_password" }
end

describe("register the current user", function()
  for _, platform in ipairs { "apns", "fcm", "wns" } do
    it("works on " .. platform, function()
      local run = push.run("../register_current_user.lua", { user = "bob", platform = platform })
      push.expect(#run.result.tags).to.equal(2)
      push.expect(run.result.tags).to.contain "bob"
      push.expect(#push.find_device("bob-1"):inbox()).to.equal(3) -- two test notifications and one message
    end)
  end

  it("keeps one registration for an installation, however often it registers", function()
    local session = login "alice"
    local phone = push.device { name = "alice-1" }
    local ids = {}
    for i = 1, 3 do
      ids[i] = session:register_current_user { device = phone }.id
      phone:rotate_token()
    end
    push.expect(ids).to.equal { ids[1], ids[1], ids[1] }
    session:register_current_user { device = phone }
    push.expect(push.send({ to = "alice", alert = "once" }).sent).to.equal(1)
  end)

  it("makes a shared phone the phone of the user who registered last", function()
    local phone = push.device { name = "tablet" }
    login("alice"):register_current_user { device = phone }
    login("bob"):register_current_user { device = phone }
    push.expect(push.send({ to = "alice", alert = "private" }).state).to.equal "NoTargetFound"
    push.expect(push.send({ to = "bob", alert = "Hello" }).sent).to.equal(1)
  end)

  it("rejects an installation id that could be a user name", function()
    login("alice"):register_current_user { device = push.device { name = "alice-1" } }
    local _, err = push.try(function()
      login("mallory"):register_current_user { device = push.device { name = "m" }, installation_id = "alice" }
    end)
    push.expect(err.code).to.equal "backend.installation_id"
    push.expect(push.send({ to = "alice", alert = "still mine" }).sent).to.equal(1)
  end)
end)
