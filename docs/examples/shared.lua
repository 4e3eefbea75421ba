local push = require "push"
local phones = require "lib.phones"

local phone = phones.signed_in("alice")
push.send { to = push.tag.user "alice", alert = "Your order has shipped" }
push.expect(phone:wait_for { alert = "Your order has shipped", within = "5s" }).to.exist()
