--- What the welcome flow must do.   pushhost test
local push = require "push"
local describe, it = push.test.describe, push.test.it

describe("welcome", function()
  it("greets the new user on the phone", function()
    local run = push.run("../welcome.lua", { user = "ana" })
    push.expect(run.result.sent).to.equal(1)
    push.expect(push.find_device("ana-1"):wait_for { contains = "Welcome" }).to.exist()
  end)

  it("greets by name", function()
    push.run("../welcome.lua", { user = "wei" })
    push.expect(push.find_device("wei-1"):wait_for { contains = "wei" }).to.exist()
  end)
end)
