-- Functions of the push module that call functions of the script, and so must be able to wait inside them.
-- Everything else is written in Swift; `host` passes both on. comparisons.lua, expectations.lua and properties.lua continue from
-- here: they get `host`, with the functions that are added to it below, and the module that is returned at the end.
local host = ...
local call, raise, traced = host.functions, host.raise, host.traced
local pack, unpack, concat = table.pack, table.unpack, table.concat
local tostring, type, pairs, ipairs, next, setmetatable = tostring, type, pairs, ipairs, next, setmetatable
local error, rawget, match, format, mathtype = error, rawget, string.match, string.format, math.type
local utf8_length, select = utf8.len, select

-- Removes the location from an error that Lua raised in here, because the script has no such line.
local function unplaced(failure)
  return type(failure) == "string" and match(failure, "^%[%l+%]:%d+: (.*)$") or failure
end

-- Like tostring, but its error names the function that was called.
local function text_of(value, name)
  if type(value) ~= "table" then return tostring(value) end
  local is_text, text = traced(tostring, value)
  if is_text then return text end
  if text == "'__tostring' must return a string" then
    raise {
      kind = "misuse", code = "args.wrong_type", message = name .. " got a table whose __tostring does not return a string",
      hint = "let its __tostring return a string",
    }
  end
  error(unplaced(text), 0)
end

-- A table whose unknown names are errors that suggest the nearest name.
local function strict(label, members, meta)
  meta = meta or {}
  meta.__name = label
  meta.__metatable = false
  meta.__index = function(_, key)
    local value = members[key]
    if value ~= nil then return value end
    local known = {}
    for name in pairs(members) do known[#known + 1] = name end
    call["host.unknown_name"](label, text_of(key, label), known)
  end
  meta.__newindex = function(_, key) call["host.read_only"](label, text_of(key, label)) end
  meta.__pairs = function() return pairs(members) end
  return setmetatable({}, meta)
end

local push = {}

-- Adds every Swift binding under its name: push.send, push.tag.user, device:inbox.
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

-- Functions written in Lua are checked against their descriptions like all others.
local function checked(name, fn)
  return function(...)
    call["host.check"](name, ...)
    return fn(...)
  end
end

local function wrong_type(name, parameter, wanted, kind, hint)
  raise {
    kind = "misuse", code = "args.wrong_type", message = format('%s: "%s" must be %s, got %s', name, parameter, wanted, kind),
    hint = hint,
  }
end

local function is_task(value) return type(value) == "userdata" and match(tostring(value), "^task: ") ~= nil end

local function phrase(value)
  local kind = type(value)
  if kind == "string" then return utf8_length(value) and "a string" or "text that is not UTF-8" end
  if kind == "number" then return "the number " .. value end
  return (kind == "boolean" or kind == "nil") and tostring(value) or "a " .. kind
end

-- The kind of a value that the host cannot inspect; nil for other values.
local function hidden_kind(value) return type(value) == "thread" and "a thread" or is_task(value) and "a task" or nil end

-- Checks a function argument, so that the host need not inspect the other arguments.
local function check_function(name, fn)
  if type(fn) == "function" then return end
  local kind = hidden_kind(fn)
  if kind then
    wrong_type(name, "fn", "a function", kind, "write function() … end around the call; tasks have :await()")
  end
  call["host.check"](name, fn)
end

-- JSON -------------------------------------------------------------------------------------------------------------

push.json.null = call["host.json_null"]()

function push.json.array(...)
  local list = ...
  if list == nil then list = {} end
  if type(list) ~= "table" or select("#", ...) > 1 then call["host.check"]("push.json.array", ...) end
  for key in next, list do
    if mathtype(key) ~= "integer" or key < 1 then
      wrong_type(
        "push.json.array", "list", "a list", "a table with the key " .. text_of(key, "push.json.array"),
        "a table with names is encoded as a JSON object"
      )
    end
  end
  if not host.list(list) then
    wrong_type(
      "push.json.array", "list", "a table without a metatable", "one that has one", "copy its values into a new table first"
    )
  end
  return list
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
  error(unplaced(results[2]), 0)
end)

push.target = strict("push.target", call["host.target"]())

push.rehearse = checked("push.rehearse", function(name, fn)
  if push.target.simulated then return push.step(name, fn) end
  call["host.step_skip"](name)
end)

push.try = function(fn, ...)
  check_function("push.try", fn)
  local results = pack(traced(fn, ...))
  if results[1] then return unpack(results, 2, results.n) end
  local failure = unplaced(results[2])
  if host.is_error(failure) and failure.kind ~= "failure" then error(failure, 0) end
  return nil, failure
end

-- Tasks ------------------------------------------------------------------------------------------------------------

-- Work of a task counts for the step that started it.
local function within(step, fn)
  if step == 0 or type(fn) ~= "function" then return fn end
  return function(...)
    call["host.step_join"](step)
    return fn(...)
  end
end

function push.spawn(fn, ...)
  check_function("push.spawn", fn)
  return host.spawn(within(call["host.step_current"](), fn), ...)
end

function push.all(functions)
  if type(functions) ~= "table" then call["host.check"]("push.all", functions) end
  -- Raw access: metamethods of the list do not run.
  local count, is_list = 0, true
  for place in next, functions do
    if mathtype(place) ~= "integer" then is_list = false
    elseif place > count then count = place
    elseif place < 1 then is_list = false end
  end
  for place = 1, is_list and count or 0 do
    local fn = rawget(functions, place)
    local kind = hidden_kind(fn)
    if fn == nil then
      wrong_type(
        "push.all", "functions", "a list without holes", "nil at index " .. place,
        "is a name misspelt? To append to a list, write list[#list + 1] = …"
      )
    elseif kind == "a thread" then
      wrong_type(
        "push.all", "functions", "a list of functions or tasks", "a thread at index " .. place,
        "write function() … end around the call"
      )
    elseif type(fn) ~= "function" and not kind then
      is_list = false
      break
    end
  end
  if not is_list then
    local shown = {}
    for key, item in next, functions do shown[key] = hidden_kind(item) and print or item end
    call["host.check"]("push.all", shown)
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

-- The app's storage looks like a table. Reading and writing access the device.
function host.types.device.storage(device)
  call["host.check"]("device:storage", device)
  return setmetatable({}, {
    __name = "storage",
    __metatable = false,
    __index = function(_, key) return device:storage_read()[key] end,
    __newindex = function(_, key, value)
      local hint = "write storage.name = \"text\"; nil removes it"
      if type(key) ~= "string" or not utf8_length(key) then wrong_type("device:storage", "key", "a string", phrase(key), hint) end
      if key == "" then
        raise { kind = "misuse", code = "args.empty", message = 'device:storage: "key" is empty', hint = hint }
      end
      local kind = type(value)
      local is_text = kind == "string" and utf8_length(value) ~= nil
      if not is_text and kind ~= "number" and kind ~= "boolean" and kind ~= "nil" then
        wrong_type("device:storage", key, "a string, a number, true or false", phrase(value), hint)
      end
      device:storage_write(key, value)
    end,
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

-- Plugins ----------------------------------------------------------------------------------------------------------

-- Scripts get a fresh copy of configuration tables each time: host functions read tables directly, and changing a copy
-- does not change the configuration.
local function copied(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  if host.is_list(value) then host.list(copy) end
  for key, inner in next, value do copy[key] = copied(inner) end
  return copy
end

-- Available once the plugin is loaded, and constant from then on.
local config
local function configured()
  config = config or call["host.config"]()
  return config
end

push.config = setmetatable({}, not host.types.group and {
  __name = "push.config",
  __metatable = false,
  __index = configured, -- raises an error, because this is not a plugin
  __newindex = function(_, key) call["host.read_only"]("push.config", text_of(key, "push.config")) end,
} or {
  __name = "push.config",
  __metatable = false,
  __index = function(_, key)
    local value = copied(configured()[key])
    if value ~= nil then return value end
    local names = call["host.config_names"]()
    for _, name in ipairs(names) do
      if name == key then return nil end
    end
    call["host.unknown_name"]("push.config", text_of(key, "push.config"), names)
  end,
  __newindex = function(_, key) call["host.read_only"]("push.config", text_of(key, "push.config")) end,
  __pairs = function() return pairs(copied(configured())) end,
})

if host.types.group then
  function host.types.group.devices(group)
    call["host.check"]("group:devices", group)
    local page, place, last = {}, 0, nil
    return function()
      if place == #page then
        page, place = call["host.group_page"](group, last), 0
      end
      place = place + 1
      local device = page[place]
      last = device and device.number
      return device
    end
  end
end

-- Logging ----------------------------------------------------------------------------------------------------------

local function line(name, ...)
  local parts = pack(...)
  for i = 1, parts.n do parts[i] = text_of(parts[i], name) end
  return concat(parts, "\t", 1, parts.n)
end

local levels = {
  info = function(...) call["host.log"]("info", line("push.log", ...)) end,
  warn = function(...) call["host.log"]("warn", line("push.log.warn", ...)) end,
  error = function(...) call["host.log"]("error", line("push.log.error", ...)) end,
}
push.log = strict("push.log", levels, { __call = function(_, ...) levels.info(...) end })
function print(...) call["host.log"]("print", line("print", ...)) end

push.everyone = call["host.everyone"]()

-- What comes next in the making of the module ---------------------------------------------------------------------

host.strict, host.checked, host.text_of, host.unplaced = strict, checked, text_of, unplaced

-- Returns the complete module as scripts see it.
function host.seal()
  for name, value in pairs(push) do
    if type(value) == "table" and name ~= "log" and name ~= "target" and name ~= "config" then push[name] = strict("push." .. name, value) end
  end
  return strict("push", push)
end

return push
