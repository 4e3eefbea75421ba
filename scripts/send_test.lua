--- A test send, with the result of each device in words.
--- pushhost run scripts/send_test.lua --to "username:alice" --text "Can you see me?"
local push = require "push"

local args = push.args {
  to   = { type = "string", default = "beta", desc = "tag expression; at most ten of its devices receive it" },
  text = { type = "string", default = "Can you see me?", desc = "text that the devices show" },
}

-- A typical hub: working devices, one with an invalid token, and one whose push service throttles.
push.rehearse("a hub with valid and invalid devices", function()
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

push.rehearse("valid devices show it, and invalid ones have been removed", function()
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
