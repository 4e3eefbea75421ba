-- Expectations and tests of the push module: push.expect, push.check, push.test.
-- Runs after push.lua, which passes the unsealed module. Returns the module that scripts get.
local host, push = ...
local call, raise, traced, strict, checked = host.functions, host.raise, host.traced, host.strict, host.checked
local text_of, unplaced = host.text_of, host.unplaced
local pack, unpack, concat = table.pack, table.unpack, table.concat
local tostring, type, pairs, ipairs, setmetatable = tostring, type, pairs, ipairs, setmetatable
local error, rawequal, select = error, rawequal, select
local format, find, gsub, sub = string.format, string.find, string.gsub, string.sub
local mathtype, max = math.type, math.max

-- Maximum bytes shown of a value, or of all differences of two tables together. Stays below the limit of error messages.
-- `room.left` is the number of bytes left.
local ROOM = 48 << 10
-- Bytes for the punctuation around a part.
local MARKS = 4

-- The beginning of a text that fits, without a truncated character.
local function cut(text, room)
  if #text <= room.left then return text end
  return (gsub(sub(text, 1, max(room.left, 0)), "[\xC0-\xFF][\x80-\xBF]*$", ""))
end

local function show(value, depth, room)
  depth, room = depth or 0, room or { left = ROOM }
  if type(value) ~= "table" then
    local whole = type(value) == "string" and value or tostring(value)
    local text = cut(whole, room)
    local shown = type(value) == "string" and gsub(format("%q", text), "\\\n", "\\n") .. "" or text
    room.left = room.left - #shown - MARKS
    return #text < #whole and shown .. "…" or shown
  end
  room.left = room.left - MARKS
  if depth > 3 then return "{…}" end
  local parts, count, is_whole = {}, 0, true
  for index, item in ipairs(value) do
    if room.left <= 0 then
      is_whole = false
      break
    end
    parts[#parts + 1] = show(item, depth + 1, room)
    count = index
  end
  for key, item in pairs(value) do
    if room.left <= 0 then
      is_whole = is_whole and mathtype(key) == "integer" and key >= 1 and key <= count
      if not is_whole then break end
    elseif not (mathtype(key) == "integer" and key >= 1 and key <= count) then
      local name = type(key) == "string" and find(key, "^[%a_][%w_]*$") and cut(key, room) or "[" .. show(key, depth + 1, room) .. "]"
      room.left = room.left - #name
      parts[#parts + 1] = name .. " = " .. show(item, depth + 1, room)
    end
  end
  if not is_whole then parts[#parts + 1] = "…" end
  local text = "{ " .. concat(parts, ", ") .. " }"
  return #parts == 0 and "{}" or text
end

local DEEPEST = 200

-- `seen` records which tables were compared. `seen.too_deep` records that the nesting limit was exceeded.
local function same_within(seen, depth, a, b)
  if a == b then return true end
  -- Two handles of the same device are equal. Device names are unique.
  if type(a) == "userdata" and type(b) == "userdata" then return tostring(a) == tostring(b) and find(tostring(a), "^device ") ~= nil end
  if type(a) ~= "table" or type(b) ~= "table" then return false end
  if depth > DEEPEST then seen.too_deep = true end
  if seen.too_deep then return false end
  if seen[a] == b then return true end
  seen[a] = b
  for key, value in pairs(a) do
    if not same_within(seen, depth + 1, value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

local function same(a, b)
  local seen = {}
  local is_same = same_within(seen, 1, a, b)
  -- Raise the error here: inside the recursion the script's line would be too far up the stack to be found.
  if seen.too_deep then
    raise {
      kind = "misuse", code = "args.too_deep", message = format("push.expect compares tables nested at most %d deep", DEEPEST),
      hint = "compare the parts that matter, one by one",
    }
  end
  return is_same
end

-- The differences of two tables, one per line: expected value and actual value.
-- At most MOST lines, within the available room.
local MOST, SHORT, LONGEST_KEY = 20, 60, 200

local function step_to(path, key)
  if type(key) == "string" and #key <= LONGEST_KEY and find(key, "^[%a_][%w_]*$") then return path .. "." .. key end
  return path .. "[" .. show(key, 0, { left = LONGEST_KEY }) .. "]"
end

local function differ(lines, path, wanted, value, depth)
  if same(wanted, value) then return end
  if type(wanted) ~= "table" or type(value) ~= "table" or depth > 8 then
    local name = path == "" and "the value" or path
    lines.count = lines.count + 1
    local room = lines.room
    if lines.count <= MOST and room.left > 0 then
      room.left = room.left - #name
      lines[#lines + 1] = format(
        "%s: expected %s, got %s", name, wanted == nil and "nothing" or show(wanted, 0, room),
        value == nil and "nothing" or show(value, 0, room)
      )
    end
    return
  end
  for key, item in pairs(wanted) do differ(lines, step_to(path, key), item, value[key], depth + 1) end
  for key, item in pairs(value) do
    if wanted[key] == nil then differ(lines, step_to(path, key), nil, item, depth + 1) end
  end
end

local function differences(wanted, value)
  local lines = { count = 0, room = { left = ROOM } }
  differ(lines, "", wanted, value, 0)
  if lines.count > #lines then lines[#lines + 1] = format("… and %d more", lines.count - #lines) end
  return lines
end

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
        local actual = judged(whole, traced(show, value))
        local message = format("expected %s, got %s", wanted, actual)
        local compared = name == "equal" and not turned and type(value) == "table" and type((...)) == "table"
        local details = { expected = wanted, actual = actual }
        if compared and #wanted + #actual > SHORT then
          local lines = judged(whole, traced(differences, (...), value))
          message = format(
            "the tables have %d difference%s:\n%s", lines.count, lines.count == 1 and "" or "s", concat(lines, "\n")
          )
          details.differences = lines.count
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
local declare = checked("push.test.it", function(name, ...)
  local fn = ...
  if running then misplaced("push.test.it was called inside a test", "tests cannot be nested") end
  if fn == nil and select("#", ...) > 0 then
    raise {
      kind = "misuse", code = "args.missing", message = format("the test %q got nil for its function", name),
      hint = "is the function's name misspelt? A pending test has only a name",
    }
  end
  number = number + 1
  note_test()
  if over then return end
  if not call["host.declare_test"](name, fn == nil, group.names) then return end
  running = true
  local results = pack(traced(function()
    before_each(group)
    fn()
  end))
  local failure = after_each(group)
  running, over = false, true
  if not results[1] then error(unplaced(results[2]), 0) end
  if failure then error(unplaced(failure[2]), 0) end
end)

-- Every test run reads the whole file, so declarations of other tests must be cheap. They were checked during collection.
function push.test.it(...)
  if not wanted or wanted == 0 or wanted == number + 1 or running then return declare(...) end
  number = number + 1
  note_test()
end

return host.seal()
