-- Expectations and tests of the push module: push.expect, push.check, push.test.
-- Runs after comparisons.lua, which passes the unsealed module, and passes it on to properties.lua.
local host, push = ...
local call, raise, traced, strict, checked = host.functions, host.raise, host.traced, host.strict, host.checked
local text_of, unplaced, show, cut, same, described = host.text_of, host.unplaced, host.show, host.cut, host.same, host.described
local pack, unpack, concat = table.pack, table.unpack, table.concat
local tostring, tonumber, type, pairs, ipairs, setmetatable = tostring, tonumber, type, pairs, ipairs, setmetatable
local error, rawequal, rawget, select = error, rawequal, rawget, select
local format, find, gsub, mathtype = string.format, string.find, string.gsub, math.type

-- Expectations -----------------------------------------------------------------------------------------------------

local function number(value, name)
  if type(value) == "number" then return value end
  raise {
    kind = "misuse", code = "args.wrong_type",
    message = format("%s needs a number, got %s", name, show(value)), hint = "pass a number to push.expect",
  }
end

-- The state of a notification that reached no device. Expecting it allows such sends in the test.
local NO_TARGET = "NoTargetFound"

-- Each matcher returns whether it holds, and a description of what was expected.
local matchers = {}

function matchers.equal(value, wanted) return same(value, wanted), show(wanted) end
function matchers.exist(value) return value ~= nil, "a value" end
function matchers.be_nil(value) return value == nil, "nil" end
function matchers.be_true(value) return value == true, "true" end
function matchers.be_false(value) return value == false, "false" end
function matchers.be_a(value, name) return type(value) == name or mathtype(value) == name, "a " .. tostring(name) end
function matchers.be_above(value, least)
  return number(value, "be_above") > number(least, "be_above"), "more than " .. show(least)
end
function matchers.be_below(value, most)
  return number(value, "be_below") < number(most, "be_below"), "less than " .. show(most)
end
function matchers.be_at_least(value, least)
  return number(value, "be_at_least") >= number(least, "be_at_least"), "at least " .. show(least)
end
function matchers.be_at_most(value, most)
  return number(value, "be_at_most") <= number(most, "be_at_most"), "at most " .. show(most)
end
-- A value of the wrong type is an error, so that it does not satisfy to_not.
local function looked_at(value, name, ...)
  for _, wanted in ipairs { ... } do
    if type(value) == wanted then return end
  end
  raise {
    kind = "misuse", code = "args.wrong_type", message = format("%s needs a %s, got %s", name, concat({ ... }, " or a "), show(value)),
    hint = "pass a " .. concat({ ... }, " or a ") .. " to push.expect; is a name misspelt?",
  }
end

function matchers.match(value, pattern)
  looked_at(value, "match", "string")
  return find(value, pattern) ~= nil, "text that matches " .. show(pattern)
end
function matchers.have_length(value, length)
  looked_at(value, "have_length", "string", "table")
  return #value == length, "a length of " .. show(length) .. ", has " .. #value
end
function matchers.contain(value, part)
  looked_at(value, "contain", "string", "table")
  if part == nil then
    raise { kind = "misuse", code = "args.missing", message = "contain needs a value to search for, got nil", hint = "is a name misspelt?" }
  elseif type(value) == "string" and type(part) ~= "string" then
    raise {
      kind = "misuse", code = "args.wrong_type", message = "contain searches a string for a string, got " .. show(part),
      hint = "convert it with tostring(…)",
    }
  end
  if type(value) == "string" then return type(part) == "string" and find(value, part, 1, true) ~= nil, "text with " .. show(part) end
  if type(value) == "table" then
    for _, item in pairs(value) do
      if same(item, part) then return true, "an element " .. show(part) end
    end
  end
  return false, "an element " .. show(part)
end

-- Spies: the calls of each, by function. A call is a packed table of its arguments, with its results.
local spies = {}

local function shown_arguments(made)
  local parts = {}
  for place = 1, made.n do parts[place] = show(made[place]) end
  return "(" .. concat(parts, ", ") .. ")"
end

local function count_of_calls(count) return count == 1 and "1 call" or (count == 0 and "no" or tostring(count)) .. " calls" end

-- The calls of a spy for a message: `2 calls: ("a"), ("b")`.
local function shown_calls(calls)
  local parts = {}
  for place = 1, #calls do
    if place > 10 then
      parts[place] = "…"
      break
    end
    parts[place] = shown_arguments(calls[place])
  end
  return count_of_calls(#calls) .. (#calls > 0 and ": " or "") .. concat(parts, ", ")
end

local function calls_of(value, name)
  if value ~= nil and spies[value] then return spies[value] end
  raise {
    kind = "misuse", code = "args.wrong_type", message = format("%s needs a spy, got %s", name, show(value)),
    hint = "pass the function that push.test.spy returns to push.expect",
  }
end

function matchers.have_been_called(value, times)
  local calls = calls_of(value, "have_been_called")
  if times == nil then return #calls > 0, "a call" end
  return #calls == times, count_of_calls(times)
end
function matchers.have_been_called_with(value, ...)
  local calls, wanted = calls_of(value, "have_been_called_with"), pack(...)
  local text = "a call with " .. shown_arguments(wanted)
  for _, made in ipairs(calls) do
    local is_same = made.n == wanted.n
    for place = 1, is_same and wanted.n or 0 do is_same = is_same and same(made[place], wanted[place]) end
    if is_same then return true, text end
  end
  return false, text
end

-- Checks the arguments of a matcher against its description. Placeholders stand for values that cannot be passed to the host.
local function check_matcher(name, own, ...)
  local given = pack(...)
  if rawequal(given[1], own) then -- called with a colon
    return call["host.check"]("push.expect(…).to." .. name, {}, true, true)
  end
  for index = 1, given.n do
    local kind = type(given[index])
    if kind == "table" or kind == "userdata" or kind == "thread" or kind == "function" then given[index] = { true } end
  end
  call["host.check"]("push.expect(…).to." .. name, unpack(given, 1, given.n))
end

-- Returns the results of a matcher after the first. An error that Lua raised in here is reported as the matcher's error
-- at the script's line; an error from a script's metamethod is passed on.
local function judged(name, holds, ...)
  if holds then return ... end
  local failure = ...
  local reason = unplaced(failure)
  if rawequal(reason, failure) then error(failure, 0) end
  if find(name, "%.match$") and (find(reason, "pattern", 1, true) or find(reason, "capture", 1, true)) then
    raise {
      kind = "misuse", code = "args.pattern", message = format("%s: %s", name, reason),
      hint = "write % before a special character: \"%[\"; or use contain, which searches for plain text",
    }
  end
  raise {
    kind = "runtime", code = "script.error", message = format("%s: %s", name, reason),
    hint = "check the metatables of the values, and look for endless recursion",
  }
end

local function expectation(value, turned, id)
  local label = "push.expect(…)." .. (turned and "to_not" or "to")
  local own
  own = strict(label, setmetatable({}, {
    __index = function(_, name)
      local matcher = matchers[name]
      if not matcher then return nil end
      return function(...)
        call["host.expectation_begun"](id)
        check_matcher(name, own, ...)
        local whole = label .. "." .. name
        local holds, wanted = judged(whole, traced(matcher, value, ...))
        if turned then
          holds, wanted = not holds, "not " .. wanted
        end
        if holds then
          call["host.expectation_met"]()
          if value == nil then call["host.missed_item"]() end
          if name == "equal" and not turned and value == NO_TARGET then call["host.allow_no_target"]() end
          return
        end
        local actual = spies[value] and shown_calls(spies[value]) or judged(whole, traced(show, value))
        local message = format("expected %s, got %s", wanted, actual)
        local details = { expected = wanted, actual = actual }
        if name == "equal" and not turned and value ~= nil then
          local text, count = judged(whole, traced(described, (...), value, wanted .. actual))
          if text then message, details.differences = text, count end
        elseif value == nil then
          local missed = call["host.missed_item"]()
          if missed then message = message .. ": " .. missed end
        end
        call["host.expectation_failed"] { message = message, expected = wanted, actual = actual }
        raise { kind = "failure", code = "expect.failed", message = message, details = details }
      end
    end,
    __pairs = function() return pairs(matchers) end,
  }))
  return own
end

function push.expect(value)
  local id = call["host.expect"]() -- one that never gets a matcher is reported at the end
  return strict("push.expect(…)", { to = expectation(value, false, id), to_not = expectation(value, true, id) })
end

function push.check(value, label)
  label = label == nil and "check" or text_of(label, "push.check")
  if value then
    call["host.expectation_met"]()
  else
    call["host.expectation_failed"] { message = label .. " does not hold", expected = "a true value", actual = show(value) }
  end
  return not not value
end

-- Tests -----------------------------------------------------------------------------------------------------------

-- The describe blocks around the current position of the file, and whether the test of this run is running or over.
local group = { names = {}, before = {}, after = {} }
local running, over = false, false
-- The number of the test to run; 0 while tests are collected, nil in a flow.
local wanted, number = call["host.test_wanted"](), 0

local function misplaced(message, hint)
  raise { kind = "misuse", code = "test.order", message = message, hint = hint }
end

push.test = push.test or {} -- with the functions implemented in Swift

push.test.describe = checked("push.test.describe", function(name, fn)
  if running then misplaced("push.test.describe was called inside a test", "call it outside of tests") end
  if over then return end
  local outer = group
  group = { parent = outer, names = { unpack(outer.names) }, before = {}, after = {} }
  group.names[#group.names + 1] = name
  fn()
  group = outer
end)

local function hook(name, list)
  return checked(name, function(fn)
    if running then misplaced(name .. " was called inside a test", "move it to the describe block around the test") end
    if group.has_tests then
      misplaced(name .. " was called after a test that it would not apply to", "move it before the first test of its describe block")
    end
    local hooks = group[list]
    hooks[#hooks + 1] = fn
  end)
end
push.test.before_each = hook("push.test.before_each", "before")
push.test.after_each = hook("push.test.after_each", "after")

-- Runs outermost functions first.
local function before_each(place)
  if place.parent then before_each(place.parent) end
  for _, fn in ipairs(place.before) do fn() end
end

-- Runs innermost functions first, all of them. Returns the first error.
local function after_each(place)
  local failure
  while place do
    for _, fn in ipairs(place.after) do
      local results = pack(traced(fn))
      if not results[1] and failure == nil then failure = results end
    end
    place = place.parent
  end
  return failure
end

-- Records that the group has a test: hooks declared later are errors.
local function note_test()
  local place = group
  while place and not place.has_tests do
    place.has_tests = true
    place = place.parent
  end
end

-- Runs a test where it is declared, if it is the one of this run. Every test has its own run, and so its own world.
-- `register` tells the host of the test, and returns whether it is that one.
local function declare(label, register, fn)
  if running then misplaced(label .. " was called inside a test", "tests cannot be nested") end
  number = number + 1
  note_test()
  if over then return end
  if not register(group.names) then return end
  running = true
  local results = pack(traced(function()
    before_each(group)
    fn()
  end))
  local failure = after_each(group)
  running, over = false, true
  if not results[1] then error(unplaced(results[2]), 0) end
  if failure then error(unplaced(failure[2]), 0) end
end

-- Whether the next declaration is of another test than the one of this run; then it is counted. Every test run reads the whole file, so
-- such declarations must be cheap. They were checked during collection.
local function passes_over()
  if not wanted or wanted == 0 or wanted == number + 1 or running then return false end
  number = number + 1
  note_test()
  return true
end

host.declare, host.passes_over = declare, passes_over
function host.is_running() return running end

local it = checked("push.test.it", function(name, ...)
  local fn = ...
  if fn == nil and select("#", ...) > 0 and not running then
    raise {
      kind = "misuse", code = "args.missing", message = format("the test %q got nil for its function", name),
      hint = "is the function's name misspelt? A pending test has only a name",
    }
  end
  declare("push.test.it", function(names) return call["host.declare_test"](name, fn == nil, names) end, fn)
end)

function push.test.it(...)
  if not passes_over() then return it(...) end
end

-- The name of a row's test: `{name}` and `{1}` stand for fields of the row, `{}` for the row itself. Without any, the row is appended.
local LONGEST_VALUE = 80

local function row_name(name, row)
  local has_value = false
  local text = gsub(name, "{([%w_]*)}", function(key)
    local value
    if key == "" then
      value = row
    elseif type(row) == "table" then
      value = rawget(row, key)
      if value == nil then value = rawget(row, tonumber(key) or key) end
    end
    if value == nil then return nil end
    has_value = true
    return type(value) == "string" and cut(value, { left = LONGEST_VALUE }) or show(value, 0, { left = LONGEST_VALUE })
  end)
  return has_value and text or text .. ": " .. show(row, 0, { left = LONGEST_VALUE })
end

function push.test.each(name, rows, fn)
  -- A placeholder for the rows, which may have values that cannot be passed to the host.
  local is_list = type(rows) == "table" and #rows > 0
  call["host.check"]("push.test.each", name, is_list and { true } or rows, fn)
  if not is_list then
    raise { kind = "misuse", code = "args.empty", message = 'push.test.each: "rows" is empty', hint = "write a list with a row per test" }
  end
  for _, row in ipairs(rows) do
    if not passes_over() then
      declare("push.test.each", function(names)
        return call["host.declare_test"](row_name(name, row), false, names)
      end, function() return fn(row) end)
    end
  end
end

push.test.spy = checked("push.test.spy", function(fn)
  local calls = {}
  local function finished(made, ...)
    made.results = pack(...)
    return ...
  end
  local function spy(...)
    local made = host.deep_copy(pack(...))
    calls[#calls + 1] = made
    if fn then return finished(made, fn(...)) end
    made.results = pack()
  end
  spies[spy] = calls
  return spy, calls
end)

return push
