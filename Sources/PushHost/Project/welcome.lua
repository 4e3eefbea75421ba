--- Welcome a new user on the phone.   pushhost run scripts/welcome.lua --user ana
local push = require "push"

local args = push.args {
  user = { type = "string", default = "ana", desc = "name of the new user" },
}

push.account { username = args.user, password = push.secret "demo_password" }
local session = push.login { username = args.user, password = push.secret "demo_password" }

local phone = push.step("register the phone", function()
  local device = push.device { name = args.user .. "-1", platform = "apns", user = args.user }
  session:register { device = device, tags = { "news" } }
  return device
end)

local outcome = push.step("send the greeting", function()
  return push.send { to = push.tag.user(args.user), title = "Welcome", alert = "Welcome, " .. args.user .. "!" }
end)

push.rehearse("the phone shows it", function()
  local item = phone:wait_for { title = "Welcome", within = "5s" }
  push.expect(item).to.exist()
  push.expect(item.text).to.contain(args.user)
end)

return { sent = outcome.sent }
