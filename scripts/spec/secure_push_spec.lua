local push = require "push"
local describe, it = push.test.describe, push.test.it

local function login(user)
  push.account { username = user, password = push.secret "demo_password" }
  return push.login { username = user, password = push.secret "demo_password" }
end

describe("secure push", function()
  it("shows the secret to its recipient, and sends it to no push service", function()
    local run = push.run("../secure_push.lua", { secret = "the vault opens at nine" })
    push.expect(run.result.reads).to.equal(1)
    for _, exchange in ipairs(push.wire()) do
      push.expect(exchange.body).to_not.contain "vault"
      push.expect(exchange.response_body).to_not.contain "vault"
    end
    for _, line in ipairs(run.log) do push.expect(line).to_not.contain "vault" end
    push.expect(push.find_device("alice-1"):wait_for { alert = "the vault opens at nine", within = "1s" }).to.exist()
  end)

  for _, platform in ipairs { "apns", "fcm", "gcm", "wns", "browser" } do
    it("wakes the app on " .. platform .. " with nothing but the id", function()
      local bank, alice = login "bank", login "alice"
      local phone = push.device { name = "alice-1", platform = platform }
      alice:register { device = phone }
      phone:on_push(function(item)
        phone:show { body = alice:fetch_secure_payload(item.secure_id).code }
      end)
      local receipt = bank:send_secure { to = "alice", payload = { code = "4711-secret" } }
      push.expect(receipt.outcome.sent).to.equal(1)
      push.expect(phone:wait_for { alert = "4711-secret", within = "5s" }).to.exist()
      for _, exchange in ipairs(push.wire(platform)) do push.expect(exchange.body).to_not.contain "4711" end
      for _, item in ipairs(phone:inbox()) do
        if item.source == "push" then push.expect(push.json.encode(item.payload)).to_not.contain "4711" end
      end
    end)
  end

  it("can be read only by its recipient, as often and as long as the sender allows", function()
    push.test.allow_no_target() -- no phone is registered: the payload is read without a push
    local bank, alice, mallory = login "bank", login "alice", login "mallory"
    local receipt = bank:send_secure { to = "alice", payload = { n = 1 }, max_reads = 2, expires_in = "1h" }
    local function code_of(session)
      local _, err = push.try(session.fetch_secure_payload, session, receipt.id)
      return err and err.code
    end
    push.expect(code_of(mallory)).to.equal "secure.forbidden"
    push.expect(code_of(bank)).to.equal "secure.forbidden"
    push.expect(push.fetch_secure_payload({ session = alice, id = receipt.id }).n).to.equal(1)
    push.expect(code_of(alice)).to.be_nil()
    push.expect(code_of(alice)).to.equal "secure.exhausted"

    local late = bank:send_secure { to = "alice", payload = { n = 2 }, expires_in = "1h" }
    push.clock.advance "1h"
    push.expect(select(2, push.try(alice.fetch_secure_payload, alice, late.id)).code).to.equal "secure.expired"

    local taken = bank:send_secure { to = "alice", payload = { n = 3 } }
    bank:revoke_secure_payload(taken.id)
    push.expect(select(2, push.try(alice.fetch_secure_payload, alice, taken.id)).code).to.equal "secure.revoked"
    push.expect(select(2, push.try(alice.fetch_secure_payload, alice, "4711")).code).to.equal "secure.not_found"
  end)

  it("an app that the user closed is not woken, and nothing is lost", function()
    local bank, alice = login "bank", login "alice"
    local phone = push.device { name = "alice-1" }
    alice:register { device = phone }
    local woken = 0
    phone:on_push(function() woken = woken + 1 end)
    phone:force_quit()
    local receipt = bank:send_secure { to = "alice", payload = { n = 1 } }
    push.sleep "1m"
    push.expect(woken).to.equal(0)
    push.expect(phone:inbox()[1].reason).to.contain "closed"
    phone:launch()
    push.expect(alice:fetch_secure_payload(receipt.id).n).to.equal(1)
  end)

  it("a phone that gets more background pushes than its budget is woken less often", function()
    local bank, alice = login "bank", login "alice"
    local phone = push.device { name = "alice-1" }
    alice:register { device = phone }
    local woken = 0
    phone:on_push(function() woken = woken + 1 end)
    for _ = 1, 10 do bank:send_secure { to = "alice", payload = { n = 1 } } end
    push.sleep "1m"
    push.expect(woken).to.be_above(0)
    push.expect(woken).to.be_below(10)
  end)
end)
