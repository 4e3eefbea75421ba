--- Concurrent parts of a flow, on a virtual clock that passes hours and days at once.
local push = require "push"

local reminder = push.spawn(function()
  push.sleep "3d"
  return "three days later it is " .. push.clock.iso()
end)

local first = push.all {
  function() push.sleep "2h" return "slow" end,
  function() push.sleep "1h" return "quick" end,
}
print(first[1], first[2], push.clock.iso())
print(reminder:await())
