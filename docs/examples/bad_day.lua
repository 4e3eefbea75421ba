--- A bad day: APNs rejects a third of its requests, and FCM issues no access token at first.
local push = require "push"

local fans = {}
for i = 1, 12 do
  fans[i] = push.device { name = "fan-" .. i, platform = i % 2 == 0 and "fcm" or "apns" }
  push.subscribe { device = fans[i], categories = { "Goals" } }
end

push.rehearse("two services have a bad day", function()
  push.simulator.apns:fail { reason = "TooManyRequests", share = 0.33, retry_after = "30s" }
  push.simulator.fcm:fail { reason = "temporarily_unavailable", at = "token", next = 2, retry_after = "20s" }
end)

push.send { to = "Goals", properties = { messageParam = "One all" } }

push.rehearse("every phone shows the goal all the same", function()
  for _, phone in ipairs(fans) do
    push.expect(phone:wait_for { alert = "One all", within = "10m" }).to.exist()
  end
end)
