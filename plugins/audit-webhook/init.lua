--- Reports how each notification ended to a server: signed, in order, repeated until accepted.   docs/reference/plugins/audit-webhook.md
local push = require "push"

local QUEUE = "news:"
local FIRST_PAUSE, LONGEST_PAUSE = 30, 3600 -- seconds
local MOST_AT_ONCE = 100

-- Omits an empty list, which would be encoded as {}.
local function unless_empty(list) return #list > 0 and list or nil end

local function summary(ended)
  return {
    event = "notification.ended", id = ended.hub .. "/" .. ended.id, hub = ended.hub, notification = ended.id, state = ended.state,
    tags = ended.tags, sent = ended.sent, failed = ended.failed, total = ended.total, counts = ended.counts,
    enqueued_at = ended.enqueued_at, started_at = ended.started_at, ended_at = ended.ended_at,
    notices = unless_empty(ended.notices), plugins = unless_empty(ended.origin),
  }
end

local function drop(key, why)
  local news = push.kv.get(key)
  if push.kv.delete(key) then push.log.warn(("the report of %s is dropped: %s"):format(news and news.id, why)) end
end

local function keep(news)
  -- Keys are ordered by their bytes, so the number has a fixed width of 15 digits.
  push.kv.put(("%s%015d"):format(QUEUE, push.kv.add "last"), {
    value = { id = news.id, body = push.json.encode(news), at = push.clock.now() },
  })
  local waiting = push.kv.keys { prefix = QUEUE, limit = push.config.most_waiting + 1 }
  for place = 1, #waiting - push.config.most_waiting do drop(waiting[place], "too many are pending") end
end

-- Sends a report. Returns nil, or why the server has not accepted it.
local function refusal(news)
  local now = ("%d"):format(push.clock.now() // 1)
  local is_answered, answer = pcall(push.http, {
    url = push.config.url, body = news.body, redirects = 0,
    headers = {
      ["Content-Type"] = "application/json", ["Idempotency-Key"] = news.id,
      ["PushHost-Signature"] = ("t=%s,v1=%s"):format(now, push.sign(push.config.secret, now .. "." .. news.body)),
    },
  })
  if not is_answered then return type(answer) == "table" and answer.message or tostring(answer) end
  if not answer.ok then return "it answered " .. answer.status end
end

-- Sends the oldest report. Returns whether there may be more.
local function tell_next()
  local key = push.kv.keys({ prefix = QUEUE, limit = 1 })[1]
  local news = key and push.kv.get(key)
  if not news then return false end
  if push.clock.now() - news.at > push.config.give_up_after then
    drop(key, "it was pending for too long")
    return true
  end
  local why = refusal(news)
  if why then
    local pause = math.min(FIRST_PAUSE * 2 ^ (push.kv.add "failures" - 1), LONGEST_PAUSE)
    push.kv.put("retry_at", { value = push.clock.now() + pause })
    push.log.warn(("the report of %s is retried in %d s: %s"):format(news.id, pause, why))
    return false
  end
  push.kv.delete(key)
  push.kv.delete "failures"
  push.kv.delete "retry_at"
  return true
end

-- Sends the waiting reports one at a time, in order. If another call is already sending, it also sends those of this call.
local function tell()
  for _ = 1, MOST_AT_ONCE do
    if push.clock.now() < (push.kv.get "retry_at" or 0) then return end
    if not push.kv.put("busy", { value = true, if_absent = true, expires_in = "5m" }) then return end
    local is_more = tell_next()
    push.kv.delete "busy"
    if not is_more then return end
  end
end

return {
  name = "audit-webhook",
  version = "1.0",
  desc = "Reports to a server of yours how each notification ended",

  needs = { "kv", "http:{url}" },

  config = {
    url = { type = "string", required = true, desc = "address that receives the reports: https://audit.example.com/push" },
    secret = { type = "secret", required = true, desc = "name of the secret that signs the reports" },
    failures_only = { type = "boolean", default = false, desc = "report only notifications that some devices did not receive" },
    most_waiting = { type = "integer", default = 500, min = 1, max = 999, desc = "maximum number of pending reports; beyond it, the oldest is dropped" },
    give_up_after = { type = "duration", default = "3d", desc = "time after which a pending report is dropped" },
  },

  hooks = {
    on_outcome = {
      cpu = "1s",
      timeout = "4m",
      run = function(ended)
        if push.config.failures_only and ended.failed == 0 then return end
        keep(summary(ended))
        tell()
      end,
    },
  },

  every = { { cron = "* * * * *", timeout = "4m", run = tell } },
}
