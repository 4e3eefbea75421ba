-- The part of the push module that calls functions of the script, and so must be able to wait inside them.
-- Everything else is Swift; `host` hands both over. expectations.lua goes on from here: it gets `host`, with the three functions
-- that are put into it here, and what is returned at the end.
local host = ...
local call, raise, traced = host.functions, host.raise, host.traced
local pack, unpack, concat = table.pack, table.unpack, table.concat
local tostring, type, pairs, ipairs, next, setmetatable = tostring, type, pairs, ipairs, next, setmetatable
local rawget, rawlen = rawget, rawlen

-- Names that do not exist are errors, and the error names the nearest one.
local function strict(label, members, meta)
  meta = meta or {}
  meta.__name = label
  meta.__metatable = false
  meta.__index = function(_, key)
    local value = members[key]
    if value ~= nil then return value end
    local known = {}
    for name in pairs(members) do known[#known + 1] = name end
    call["host.unknown_name"](label, tostring(key), known)
  end
  meta.__newindex = function(_, key) call["host.read_only"](label, tostring(key)) end
  meta.__pairs = function() return pairs(members) end
  return setmetatable({}, meta)
end

local push = {}

-- Every Swift binding under its name: push.send, push.tag.user, device:inbox.
for name, fn in pairs(call) do
  local space, member = name:match("^push%.([%w_]+)%.([%w_]+)$")
  if space then
    push[space] = push[space] or {}
    push[space][member] = fn
  elseif name:match("^push%.[%w_]+$") then
    push[name:match("[%w_]+$")] = fn
  else
    local object, method = name:match("^([%w_]+):([%w_]+)$")
    if object and host.types[object] then host.types[object][method] = fn end
  end
end

-- Functions written here are checked by their description like all others.
local function checked(name, fn)
  return function(...)
    call["host.check"](name, ...)
    return fn(...)
  end
end

-- Steps ------------------------------------------------------------------------------------------------------------

push.step = checked("push.step", function(name, fn)
  local id = call["host.step_begin"](name)
  local results = pack(traced(fn))
  if results[1] then
    call["host.step_end"](id)
    return unpack(results, 2, results.n)
  end
  call["host.step_fail"](id) -- does not wait: the run may have been cancelled
  error(results[2], 0)
end)

push.target = strict("push.target", call["host.target"]())

push.rehearse = checked("push.rehearse", function(name, fn)
  if push.target.simulated then return push.step(name, fn) end
  call["host.step_skip"](name)
end)

push.try = function(fn, ...)
  if type(fn) ~= "function" then call["host.check"]("push.try", fn) end
  local results = pack(traced(fn, ...))
  if results[1] then return unpack(results, 2, results.n) end
  local failure = results[2]
  if host.is_error(failure) and failure.kind ~= "failure" then error(failure, 0) end
  return nil, failure
end

-- Tasks ------------------------------------------------------------------------------------------------------------

-- What a task does counts for the step that started it.
local function within(step, fn)
  if step == 0 or type(fn) ~= "function" then return fn end
  return function(...)
    call["host.step_join"](step)
    return fn(...)
  end
end

function push.spawn(fn, ...)
  if type(fn) ~= "function" then call["host.check"]("push.spawn", fn) end
  return host.spawn(within(call["host.step_current"](), fn), ...)
end

function push.all(functions)
  if type(functions) ~= "table" then call["host.check"]("push.all", functions) end
  -- Raw: what the metatable of the list says is not run.
  local count = rawlen(functions)
  for place, fn in next, functions do
    local is_listed = math.type(place) == "integer" and place >= 1 and place <= count
    if not is_listed or type(fn) ~= "function" and type(fn) ~= "userdata" then
      local shown = {}
      for key, item in next, functions do shown[key] = type(item) == "userdata" and print or item end
      call["host.check"]("push.all", shown)
    end
  end
  local step = call["host.step_current"]()
  if step == 0 then return host.all(functions) end
  local joined = {}
  for place = 1, count do joined[place] = within(step, rawget(functions, place)) end
  return host.all(joined)
end

-- Phones and sessions ----------------------------------------------------------------------------------------------

function host.types.device.on_push(device, fn)
  call["host.check"]("device:on_push", device, fn)
  device:handle_pushes()
  return host.spawn_daemon(function()
    while true do fn(device:next_push()) end
  end)
end

-- The app's storage looks like a table; reading and writing go to the phone.
function host.types.device.storage(device)
  call["host.check"]("device:storage", device)
  return setmetatable({}, {
    __name = "storage",
    __metatable = false,
    __index = function(_, key) return device:storage_read()[key] end,
    __newindex = function(_, key, value) device:storage_write(key, value) end,
    __pairs = function() return pairs(device:storage_read()) end,
  })
end

-- The hub and the push services ------------------------------------------------------------------------------------

push.installations = checked("push.installations", function(filter)
  local page, place, token
  return function()
    while not page or place == #page do
      if page and not token then return nil end
      local answer = call["host.installations"](filter, token)
      page, token = answer.installations, answer.continuation
      place = 0
    end
    place = place + 1
    return page[place]
  end
end)

push.simulator = {}
for _, name in ipairs { "apns", "fcm", "gcm", "wns", "browser" } do push.simulator[name] = call["host.simulator"](name) end

-- Logging ----------------------------------------------------------------------------------------------------------

local function line(...)
  local parts = pack(...)
  for i = 1, parts.n do parts[i] = tostring(parts[i]) end
  return concat(parts, "\t", 1, parts.n)
end

local levels = {
  info = function(...) call["host.log"]("info", line(...)) end,
  warn = function(...) call["host.log"]("warn", line(...)) end,
  error = function(...) call["host.log"]("error", line(...)) end,
}
push.log = strict("push.log", levels, { __call = function(_, ...) levels.info(...) end })
function print(...) call["host.log"]("print", line(...)) end

push.everyone = call["host.everyone"]()

-- What comes next in the making of the module ---------------------------------------------------------------------

host.strict, host.checked = strict, checked

-- The module as scripts see it, once everything is in it.
function host.seal()
  for name, value in pairs(push) do
    if type(value) == "table" and name ~= "log" and name ~= "target" then push[name] = strict("push." .. name, value) end
  end
  return strict("push", push)
end

return push
