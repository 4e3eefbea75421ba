--- A failed call raises an error table; push.try returns it instead.
local push = require "push"

push.account { username = "alice", password = push.secret "demo_password" }

local session, err = push.try(push.login, { username = "alice", password = "a guess" })
print(session, err.code, err.status)
print(err)
