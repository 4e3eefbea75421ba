--- Four phones save power. Urgent notifications arrive at once, others when the phones have full power again.
local push = require "push"

for _, platform in ipairs { "apns", "fcm", "wns", "browser" } do
  push.subscribe { device = push.device { name = platform, platform = platform }, categories = { "Home" } }
end

local function tell(text, priority)
  push.send { to = "Home", properties = { messageParam = text }, priority = priority }
end

push.rehearse("the phones save power", function()
  for _, phone in ipairs(push.devices()) do phone:low_power() end
end)

tell("Smoke in the kitchen", "high")
tell("The washing is done", "normal")
tell("Your weekly report", "low")

push.rehearse("others arrive with full power; APNs and FCM stored only the last one", function()
  for _, phone in ipairs(push.devices()) do
    phone:full_power()
    local keeps_all = phone.platform == "wns" or phone.platform == "browser"
    push.expect(phone:inbox()).to.have_length(keeps_all and 3 or 2)
  end
end)
