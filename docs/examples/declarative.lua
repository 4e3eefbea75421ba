--- A declarative message is shown by the browser itself: the web app's code does not run, and cannot forget to show it.
local push = require "push"

push.account { username = "alice", password = push.secret "demo_password" }
local session = push.login { username = "alice", password = push.secret "demo_password" }
local laptop = push.device { name = "laptop", platform = "browser" }
session:register { device = laptop }

push.send {
  to = push.tag.user "alice",
  payload = {
    browser = {
      web_push = 8030,
      notification = { title = "Your order is ready", navigate = "https://shop.example.com/orders/42" },
    },
  },
}

push.rehearse("the browser shows it without the app", function()
  local item = laptop:wait_for { title = "Your order is ready" }
  push.expect(item.background).to.be_false()
end)
