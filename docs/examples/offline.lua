--- APNs stores one notification per app for a phone that is offline.
local push = require "push"

push.account { username = "alice", password = push.secret "demo_password" }
local session = push.login { username = "alice", password = push.secret "demo_password" }
local phone = push.device { name = "alice-1", platform = "apns" }
session:register { device = phone }

phone:offline()
for hour = 1, 3 do
  push.sleep "1h"
  push.send { to = push.tag.user "alice", alert = "It is hour " .. hour }
end
phone:online()

push.rehearse("only the last one arrives", function()
  local inbox = phone:inbox()
  push.expect(inbox).to.have_length(1)
  push.expect(inbox[1].text).to.equal "It is hour 3"
end)
