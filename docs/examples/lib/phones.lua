local push = require "push"
local phones = {}

-- A phone whose user is registered.
function phones.signed_in(user)
  local password = push.secret "demo_password"
  push.account { username = user, password = password }
  local phone = push.device { name = user .. "-1", user = user }
  push.register { session = push.login { username = user, password = password }, device = phone }
  return phone
end

return phones
