local push = require "push"
local describe, it = push.test.describe, push.test.it

describe("a crowd", function()
  it("of forty users with three devices each gets its messages", function()
    local run = push.run("../crowd.lua", { users = 40, devices = 3, crews = 7 })
    push.expect(run.result.sent).to.equal(120)
    push.expect(run.delivered).to.equal(240)
    push.expect(#push.devices { user = "user7" }).to.equal(3)
  end)

  it("of one user works too", function()
    push.expect(push.run("../crowd.lua", { users = 1, devices = 1 }).result.sent).to.equal(1)
  end)
end)
