--- Secure push: the notification contains only an id; the phone logs in and fetches the content.
--- pushhost run scripts/secure_push.lua --secret "Your code is 4711"
local push = require "push"

local args = push.args {
  secret     = { type = "string", default = "Your transfer of 12,400 EUR was approved", desc = "text that only the recipient can read" },
  expires_in = { type = "duration", default = "10m", desc = "time until it expires" },
}

if #args.secret < 8 then push.fail "choose a secret of at least 8 characters: a shorter one may be on the wire by chance" end

local function login(user)
  push.account { username = user, password = push.secret "demo_password" }
  return push.login { username = user, password = push.secret "demo_password" }
end

-- The app: when a push arrives, it fetches the payload with its session. If it cannot, it shows a generic text.
local generic = "You have a new message. Open the app to read it."
local function install_app(phone, session)
  phone:on_push(function(item)
    local payload = push.try(session.fetch_secure_payload, session, item.secure_id)
    phone:show { body = payload and payload.text or generic }
  end)
end

local bank, alice, mallory = login "bank", login "alice", login "mallory"
local phone = push.device { name = "alice-1", platform = "apns", user = "alice", locale = "en-GB" }
local receipt

push.step("register alice's phone", function()
  alice:register { device = phone }
end)

push.rehearse("the app on it waits for pushes", function()
  install_app(phone, alice)
end)

push.step("send the id of the secret", function()
  receipt = bank:send_secure { to = "alice", payload = { text = args.secret }, expires_in = args.expires_in, max_reads = 1 }
end)

push.rehearse("the phone fetches and shows it", function()
  push.expect(phone:wait_for { alert = args.secret, within = "5s" }).to.exist()
end)

push.rehearse("the secret never crossed a push service's wire", function()
  local exchanges = push.wire()
  push.expect(#exchanges).to.be_above(0)
  for _, exchange in ipairs(exchanges) do
    push.expect(exchange.body).to_not.contain(args.secret)
    push.expect(push.json.encode(exchange.headers)).to_not.contain(args.secret)
  end
  push.expect(exchanges[1].json.secureId).to.equal(receipt.id)
end)

push.step("only the recipient reads it, and only once", function()
  if not push.target.simulated then -- no phone has fetched it, so alice reads it here
    push.expect(alice:fetch_secure_payload(receipt.id).text).to.equal(args.secret)
  end
  local _, foreign = push.try(mallory.fetch_secure_payload, mallory, receipt.id)
  push.expect(foreign and foreign.code).to.equal "secure.forbidden"
  local _, twice = push.try(alice.fetch_secure_payload, alice, receipt.id)
  push.expect(twice and twice.code).to.equal "secure.exhausted"
  local results = {}
  for i, read in ipairs(bank:secure_reads(receipt.id)) do results[i] = read.user .. " " .. read.result end
  push.expect(results).to.equal { "alice granted", "mallory forbidden", "alice exhausted" }
end)

push.rehearse("a phone whose session is over shows a text without secrets", function()
  alice:logout()
  bank:send_secure { to = "alice", payload = { text = args.secret }, max_reads = 1 }
  push.expect(phone:wait_for { alert = generic, within = "5s" }).to.exist()
end)

push.rehearse("what was fetched too late cannot be read", function()
  local late = bank:send_secure { to = "alice", payload = { text = args.secret }, expires_in = args.expires_in }
  push.clock.advance(args.expires_in)
  local again = login "alice"
  local _, err = push.try(again.fetch_secure_payload, again, late.id)
  push.expect(err and err.code).to.equal "secure.expired"
end)

return { secure_id = receipt.id, reads = 1 }
