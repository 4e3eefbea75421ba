--- Sends to the phones near a shop.   our-pushhost run flows/nearby.lua
local push = require "push"

local shop = { 38.72, -9.14 }
local homes = { lisbon = { 38.74, -9.15 }, porto = { 41.15, -8.61 } }

push.step("register phones", function()
  for city in pairs(homes) do
    push.install(city, { device = push.device { name = city }, tags = { city } })
  end
end)

push.step("send to the phones within 50 km", function()
  local near = {}
  for city, place in pairs(homes) do
    if push.geo.distance { from = shop, to = place } < 50 then near[#near + 1] = city end
  end
  local outcome = push.send { to = push.tag.any(near), alert = "The shop has opened" }
  push.expect(outcome.sent).to.equal(1)
end)
