--- What PLUGIN must do.   pushhost plugin test PLUGIN
local push = require "push"
local describe, it = push.test.describe, push.test.it

describe("PLUGIN", function()
  it("greets a new user once", function()
    local plugin = push.test.plugin { config = { greeting = "Hello, %s" } }
    local phone = push.device { name = "ana-1" }
    push.install("ana-1", { device = phone, user = "ana" })
    push.expect(phone:wait_for { contains = "Hello, ana" }).to.exist()
    push.install("ana-1", { device = phone, user = "ana" })
    push.expect(plugin:request("/greeted").json.greeted).to.equal(1)
    push.expect(#plugin:log()).to.equal(0)
  end)
end)
