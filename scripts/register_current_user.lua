--- Register the current user on a device, and again when the device has a new token.
--- pushhost run scripts/register_current_user.lua --user alice
local push = require "push"

local args = push.args {
  user     = { type = "string", default = "alice", desc = "user of the device" },
  platform = { type = "string", default = "apns", choices = { "apns", "fcm", "wns" }, desc = "platform of the device" },
}

local function login(user)
  push.account { username = user, password = push.secret "demo_password" }
  return push.login { username = user, password = push.secret "demo_password" }
end

local session = login(args.user)
local phone = push.device { name = args.user .. "-1", platform = args.platform, user = args.user }
local first, again

push.step("register, and get the test notification", function()
  first = session:register_current_user { device = phone }
end)

push.rehearse("the phone shows it, and then the service gives it a new token", function()
  push.expect(phone:wait_for { alert = "Test notification for " .. args.user, within = "5s" }).to.exist()
  phone:rotate_token()
end)

push.step("register again with the new token", function()
  again = session:register_current_user { device = phone }
end)

push.rehearse("it is still one registration, and the new token works", function()
  push.expect(again.id).to.equal(first.id)
  local outcome = push.send { to = args.user, alert = "Welcome back, " .. args.user }
  push.expect(outcome.sent).to.equal(1)
  push.expect(phone:wait_for { alert = "Welcome back, " .. args.user, within = "5s" }).to.exist()
end)

return { registration = again.id, tags = again.tags }
