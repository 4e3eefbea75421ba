--- Notify a user, as the app backend does. A server runs this flow for POST /api/notifications.
local push = require "push"

local args = push.args {
  kind = { type = "string", choices = { "greeting", "text", "secure" }, default = "text", desc = "kind of notification" },
  user = { type = "string", default = "alice", desc = "user who makes the request" },
  to = { type = "string", default = "alice", desc = "user to notify" },
  text = { type = "string", default = "Hello" },
  platform = { type = "string", choices = { "apns", "fcm", "gcm", "wns", "browser" }, desc = "only on this platform" },
  payload = { type = "json", default = "Secure confirmation.", secret = true, desc = "content that is not sent to push services" },
  expires_in = { type = "duration", default = "1h" },
  max_reads = { type = "integer", min = 1 },
}

-- A server provides the session of the caller. In a rehearsal, the user logs in and registers a phone.
local session = push.caller()
if not session then
  push.account { username = args.user, password = push.secret "demo_password" }
  session = push.login { username = args.user, password = push.secret "demo_password" }
  push.rehearse("a phone registers", function()
    session:register { device = push.device { name = args.user .. "-1", platform = "apns" } }
  end)
end

if args.kind == "secure" then
  local receipt = session:send_secure {
    to = args.to, payload = args.payload, expires_in = args.expires_in, max_reads = args.max_reads,
  }
  return {
    notification_id = receipt.outcome.id,
    status = 201,
    body = { id = receipt.id, expiresAt = receipt.expires, notificationId = receipt.outcome.id },
  }
end

local text = args.kind == "greeting" and "Hello, " .. args.user or args.text
local outcome = push.step("notify", function()
  return session:send { to = args.kind == "greeting" and args.user or args.to, alert = text, platform = args.platform }
end)
return { notification_id = outcome.id }
