--- Notify every device of one user.   pushhost run scripts/notify_users.lua --user alice
local push = require "push"

local args = push.args {
  user    = { type = "string",  default = "alice", desc = "user to notify" },
  text    = { type = "string",  default = "Your order has shipped", desc = "text that the phones show" },
  devices = { type = "integer", default = 2, min = 1, max = 20, desc = "number of phones of the user" },
}

push.account { username = args.user, password = push.secret "demo_password" }
local session = push.login { username = args.user, password = push.secret "demo_password" }
local phones = {}

push.step("register the user's devices", function()
  for i = 1, args.devices do
    phones[i] = push.device { name = args.user .. "-" .. i, platform = "apns" }
    session:register { device = phones[i], tags = { "phone" } }
  end
end)

local outcome = push.step("send to the user", function()
  return push.send { to = push.tag.user(args.user), alert = args.text }
end)

push.rehearse("every device shows it", function()
  push.expect(outcome.state).to.equal "Completed"
  for _, phone in ipairs(phones) do
    push.expect(phone:wait_for { alert = args.text, within = "5s" }).to.exist()
  end
end)

return { notification_id = outcome.id, sent = outcome.sent }
