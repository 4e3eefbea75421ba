--- Load test: many concurrent users with several devices each; every user gets a message, and every inbox is checked.
--- pushhost run scripts/crowd.lua --users 100 --devices 3
local push = require "push"

local args = push.args {
  users   = { type = "integer", default = 1000, min = 1, max = 100000, desc = "number of users" },
  devices = { type = "integer", default = 2, min = 1, max = 20, desc = "number of devices per user" },
  crews   = { type = "integer", default = 50, min = 1, max = 1000, desc = "number of concurrent tasks" },
}

local platforms = { "apns", "fcm", "wns", "browser" }
local users = {}

-- Calls a function for every user, in as many concurrent tasks as --crews says.
local function for_every_user(work)
  local crews = {}
  for crew = 1, args.crews do
    crews[crew] = function()
      for number = crew, args.users, args.crews do work(number) end
    end
  end
  push.all(crews)
end

push.step("everyone logs in and registers", function()
  for_every_user(function(number)
    local user = { name = "user" .. number, phones = {} }
    push.account { username = user.name, password = push.secret "demo_password" }
    local session = push.login { username = user.name, password = push.secret "demo_password" }
    for i = 1, args.devices do
      local platform = platforms[(number + i) % #platforms + 1]
      user.phones[i] = push.device { name = user.name .. "-" .. i, platform = platform, user = user.name }
      session:register { device = user.phones[i], tags = { "crowd" } }
    end
    users[number] = user
  end)
end)

push.step("everyone gets a message of their own", function()
  for_every_user(function(number)
    local outcome = push.send { to = push.tag.user(users[number].name), alert = "Hello, " .. users[number].name }
    push.expect(outcome.sent).to.equal(args.devices)
  end)
end)

local news = push.step("one message is sent to all devices", function()
  return push.send { to = "crowd", alert = "Good news for everyone" }
end)

push.rehearse("every inbox has both, and nothing else", function()
  push.expect(news.sent).to.equal(args.users * args.devices)
  for_every_user(function(number)
    local user = users[number]
    for _, phone in ipairs(user.phones) do
      local inbox = phone:inbox()
      push.expect(#inbox).to.equal(2)
      push.expect(inbox[1].text).to.contain("Hello, " .. user.name)
      push.expect(inbox[2].text).to.contain "Good news for everyone"
    end
  end)
end)

return { users = args.users, devices = args.users * args.devices, sent = news.sent }
