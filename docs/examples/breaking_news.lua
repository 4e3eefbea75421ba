--- Breaking news: phones on three platforms, with a template each and tags for categories.
local push = require "push"

local function subscriber(name, platform, locale, template, ...)
  push.account { username = name, password = push.secret "demo_password" }
  local session = push.login { username = name, password = push.secret "demo_password" }
  local phone = push.device { name = name, platform = platform, user = name, locale = locale }
  session:register { device = phone, template = template, tags = { ... } }
  return phone
end

local ana = subscriber("ana", "apns", "pt-PT", '{"aps":{"alert":"$(headline)"}}', "Technology", "Sports")
local wei = subscriber("wei", "fcm", "zh-TW", '{"message":{"notification":{"body":"$(headline)"}}}', "Technology")
local tom = subscriber("tom", "wns", "en-GB",
  '<toast><visual><binding template="ToastGeneric"><text>$(headline)</text></binding></visual></toast>', "Sports")

push.step("send to those who follow Technology", function()
  return push.send { to = "Technology && !muted", properties = { headline = "Lua turns thirty-three" } }
end)

push.rehearse("only these phones show it", function()
  push.expect(ana:wait_for { alert = "Lua turns thirty-three" }).to.exist()
  push.expect(wei:wait_for { alert = "Lua turns thirty-three" }).to.exist()
  push.expect(tom:inbox()).to.have_length(0)
end)
