--- The operator's test send: what became of it on each device, in words.
--- pushhost run scripts/send_test.lua --to "username:alice" --text "Can you see me?"
local push = require "push"

local args = push.args {
  to   = { type = "string", default = "beta", desc = "a tag expression; at most ten of its devices get it" },
  text = { type = "string", default = "Can you see me?", desc = "what the devices show" },
}

-- A hub as one finds it: two phones that are well, one with a dead token, one behind a service that has had enough.
push.rehearse("a hub with good and bad devices", function()
  push.account { username = "alice", password = push.secret "demo_password" }
  local session = push.login { username = "alice", password = push.secret "demo_password" }
  local function register(name, platform)
    local phone = push.device { name = name, platform = platform }
    session:register { device = phone, tags = { "beta" } }
    return phone
  end
  register("iphone", "apns")
  register("old-iphone", "apns"):uninstall()
  register("pixel", "fcm")
  register("surface", "wns")
  register("firefox", "browser")
  push.simulator.wns:fail { reason = "channelthrottled" }
end)

local outcome = push.step("test send to " .. args.to, function()
  return push.send { to = args.to, alert = args.text, test = true }
end)

for _, device in ipairs(outcome.devices) do
  local who = device.name or device.handle
  local reason = device.reason ~= "" and device.reason .. ": " or ""
  push.log(("%-12s %-8s %-16s %s%s"):format(who, device.platform, device.outcome, reason, device.explanation))
end

push.rehearse("the good ones show it, and the dead ones have left the hub", function()
  local gone = 0
  for _, device in ipairs(outcome.devices) do
    if device.registration_removed then gone = gone + 1 end
    if device.outcome == "Success" then
      push.expect(push.find_device(device.name):wait_for { contains = args.text, within = "5s" }).to.exist()
    end
  end
  local again = push.send { to = args.to, alert = "Once more", test = true }
  push.expect(#again.devices).to.equal(#outcome.devices - gone)
end)

return { notification_id = outcome.id, sent = outcome.sent, failed = outcome.failed }
