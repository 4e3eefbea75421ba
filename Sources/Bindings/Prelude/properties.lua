-- Properties, generators and snapshots of the push module: push.test.property, push.gen, push.test.snapshot.
-- Runs after expectations.lua, which passes the unsealed module. Returns the module that scripts get.
local host, push = ...
local call, raise, checked = host.functions, host.raise, host.checked
local concat = table.concat
local type, pairs, ipairs, next, setmetatable, tostring = type, pairs, ipairs, next, setmetatable, tostring
local format, max, tointeger, codes, char = string.format, math.max, math.tointeger, utf8.codes, utf8.char

local function misuse(code, message, hint) raise { kind = "misuse", code = code, message = message, hint = hint } end

-- Generators -------------------------------------------------------------------------------------------------------

-- The function of each generator that draws a value.
local drawing = {}
local generator_type = { __name = "generator", __metatable = false, __tostring = function() return "generator" end }

local function generator(draw)
  local made = setmetatable({}, generator_type)
  drawing[made] = draw
  return made
end

-- A whole number from 0 to `most`. Shrinking lowers these numbers and leaves out those of whole spans, so 0 must mean the simplest value.
local function draw(most) return most > 0 and call["host.draw"](most) or 0 end

local function span(fn, ...)
  call["host.draw_begin"]()
  local value = fn(...)
  call["host.draw_end"]()
  return value
end

local DEEPEST = 100

-- Draws a value: of a generator, of a table whose values may be generators, or the value itself.
local function value_of(source, depth)
  depth = depth or 1
  if drawing[source] then return span(drawing[source]) end
  if type(source) ~= "table" then return source end
  if depth > DEEPEST then misuse("args.too_deep", format("generators are nested at most %d deep", DEEPEST)) end
  local value = {}
  if host.is_list(source) then host.list(value) end
  for key, item in pairs(source) do value[key] = value_of(item, depth + 1) end
  return value
end

local function one_of(list) return list[draw(#list - 1) + 1] end

local function check_range(name, least, most)
  if most >= least then return end
  misuse("args.wrong_type", format("%s: the range from %s to %s is empty", name, least, most), "write the smaller number first")
end

push.gen = {}

push.gen.boolean = checked("push.gen.boolean", function()
  return generator(function() return draw(1) == 1 end)
end)

push.gen.integer = checked("push.gen.integer", function(least, most)
  least = tointeger(least or -1000)
  most = tointeger(most or max(least, 0) + 1000)
  check_range("push.gen.integer", least, most)
  if most - least < 0 then misuse("args.wrong_type", "push.gen.integer: the range is larger than the numbers of Lua") end
  return generator(function()
    if least > 0 then return least + draw(most - least) end
    if most < 0 then return most - draw(most - least) end
    -- The sign first, so that lowering the second number always brings the value closer to 0.
    local is_negative = least < 0 and (most == 0 or draw(1) == 1)
    return is_negative and -draw(-least) or draw(most)
  end)
end)

local STEPS = 1 << 20

push.gen.number = checked("push.gen.number", function(least, most)
  least, most = least or 0, most or 1
  check_range("push.gen.number", least, most)
  return generator(function() return least + (most - least) * (draw(STEPS) / STEPS) end)
end)

-- Items until one of the draws ends the list. Each item is a span, so that shrinking can leave it out.
local function items_of(least, most, item)
  local list, count, is_going = {}, 0, true
  while is_going and count < most do
    span(function()
      is_going = count < least or draw(7) > 0
      if not is_going then return end
      count = count + 1
      list[#list + 1] = item()
    end)
  end
  return list
end

push.gen.list = checked("push.gen.list", function(item, least, most)
  least = least or 0
  most = most or least + 10
  check_range("push.gen.list", least, most)
  return generator(function() return items_of(least, most, function() return value_of(item) end) end)
end)

-- Plain letters first; then what texts of messages, templates and JSON break on.
local CHARACTERS = "abcXYZ019 .,-_:/'\"\\{}[]()$#%<>&\n\téß日😀"

push.gen.text = checked("push.gen.text", function(least, most, characters)
  least = least or 0
  most = most or least + 20
  check_range("push.gen.text", least, most)
  local alphabet = {}
  for _, code in codes(characters or CHARACTERS) do alphabet[#alphabet + 1] = char(code) end
  if #alphabet == 0 then misuse("args.empty", 'push.gen.text: "characters" is empty', "write the characters to choose from") end
  return generator(function() return concat(items_of(least, most, function() return one_of(alphabet) end)) end)
end)

push.gen.one_of = checked("push.gen.one_of", function(choices)
  if #choices == 0 then misuse("args.empty", 'push.gen.one_of: "choices" is empty', "write values or generators to choose from") end
  return generator(function() return value_of(one_of(choices)) end)
end)

push.gen.optional = checked("push.gen.optional", function(value)
  return generator(function()
    if draw(3) > 0 then return value_of(value) end
  end)
end)

push.gen.map = checked("push.gen.map", function(value, fn)
  return generator(function() return fn(value_of(value)) end)
end)

-- Attempts before a case is discarded.
local ATTEMPTS = 100

push.gen.where = checked("push.gen.where", function(value, fn)
  return generator(function()
    for _ = 1, ATTEMPTS do
      local found = span(value_of, value)
      if fn(found) then return found end
    end
    raise {
      kind = "failure", code = "test.discarded", message = format("push.gen.where found no value in %d attempts", ATTEMPTS),
      hint = "make a generator whose values are all suitable, for example with push.gen.map",
    }
  end)
end)

-- Values of the domain ---------------------------------------------------------------------------------------------

local TAGS = { "sports", "world", "user:ana", "user:ben", "lang:de", "beta" }

local function pool(name, tags)
  if tags and #tags == 0 then misuse("args.empty", format('%s: "pool" is empty', name), "write the tags to choose from") end
  return tags or TAGS
end

push.gen.tag = checked("push.gen.tag", function(tags)
  tags = pool("push.gen.tag", tags)
  return generator(function() return one_of(tags) end)
end)

push.gen.tags = checked("push.gen.tags", function(tags)
  tags = pool("push.gen.tags", tags)
  return generator(function()
    local chosen = {}
    for _, tag in ipairs(tags) do
      if draw(1) == 1 then chosen[#chosen + 1] = tag end
    end
    return host.list(chosen)
  end)
end)

-- A tag, the negation of an expression, or two joined. At most four tags: Azure allows six with these operators.
local function expression_of(tags, depth)
  local form = draw(depth < 2 and 3 or 0)
  if form == 0 then return one_of(tags) end
  if form == 1 then return "!" .. span(expression_of, tags, depth + 1) end
  local left = span(expression_of, tags, depth + 1)
  return format(form == 2 and "(%s && %s)" or "(%s || %s)", left, span(expression_of, tags, depth + 1))
end

push.gen.expression = checked("push.gen.expression", function(tags)
  tags = pool("push.gen.expression", tags)
  return generator(function() return expression_of(tags, 0) end)
end)

local PLATFORMS, LOCALES = { "apns", "fcm", "wns", "browser" }, { "en-US", "de-DE", "pt-PT", "zh-CN" }
local ZONES = { "UTC", "Europe/Lisbon", "America/New_York", "Asia/Kolkata" }
-- Number of devices of this case. Each case has a run of its own.
local devices = 0

push.gen.device = checked("push.gen.device", function()
  return generator(function()
    devices = devices + 1
    return { name = "phone" .. devices, platform = one_of(PLATFORMS), locale = one_of(LOCALES), time_zone = one_of(ZONES) }
  end)
end)

local BODIES = {
  apns = [[{"aps":{"alert":"%s"}}]], fcm = [[{"message":{"notification":{"body":"%s"}}}]],
}
local WORDS, NAMES = { "Hello", "Order", "news for you", "1" }, { "name", "place", "count" }

push.gen.template = checked("push.gen.template", function(platform)
  local body = BODIES[platform or "apns"]
  local property = drawing[push.gen.text(1, 8)]
  return generator(function()
    local terms, texts, properties = {}, {}, {}
    for _ = 1, 1 + draw(3) do
      if draw(1) == 1 then
        local word = one_of(WORDS)
        terms[#terms + 1] = "'" .. word .. "'"
        texts[#texts + 1] = word
      else
        local name = one_of(NAMES)
        properties[name] = properties[name] or span(property)
        terms[#terms + 1] = "$(" .. name .. ")"
        texts[#texts + 1] = properties[name]
      end
    end
    local is_plain = #terms == 1 and next(properties) ~= nil
    local text = is_plain and terms[1] or "{" .. concat(terms, " + ") .. "}"
    return { body = format(body, text), properties = properties, text = concat(texts) }
  end)
end)

-- The date of a day since 1970 (Howard Hinnant's algorithm).
local function date_of(day)
  local shifted = day + 719468
  local era = shifted // 146097
  local of_era = shifted - era * 146097
  local year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
  local of_year = of_era - (365 * year + year // 4 - year // 100)
  local month = (5 * of_year + 2) // 153
  return year + era * 400 + (month > 9 and 1 or 0), month + (month < 10 and 3 or -9), of_year - (153 * month + 2) // 5 + 1
end

push.gen.time = checked("push.gen.time", function(days)
  days = days or 7
  if days < 1 then misuse("args.wrong_type", "push.gen.time: \"days\" must be 1 or more, got " .. tostring(days)) end
  return generator(function()
    local minutes = push.clock.now() // 60 + 1 + draw(days * 1440 - 2)
    local year, month, day = date_of(minutes // 1440)
    return format("%04d-%02d-%02dT%02d:%02d:00Z", year, month, day, minutes % 1440 // 60, minutes % 60)
  end)
end)

-- Properties -------------------------------------------------------------------------------------------------------

local LIMITS = { cases = { default = 100, least = 1 }, shrinks = { default = 500, least = 0 } }
local MOST = 10000

local function limit_of(options, name)
  local value, limit = options[name], LIMITS[name]
  if value == nil then return limit.default end
  local number = type(value) == "number" and tointeger(value)
  if number and number >= limit.least and number <= MOST then return number end
  misuse(
    "args.wrong_type",
    format('push.test.property: "%s" must be a whole number from %d to %d, got %s', name, limit.least, MOST, host.show(value)),
    "write { " .. name .. " = " .. limit.default .. " }"
  )
end

local function examples_of(options)
  local examples = options.examples
  if examples == nil then return {} end
  if type(examples) == "table" and (#examples > 0 or next(examples) == nil) then return examples end
  misuse(
    "args.wrong_type", 'push.test.property: "examples" must be a list of cases, got ' .. host.show(examples),
    "write { examples = { {…} } }"
  )
end

local declare = checked("push.test.property", function(name, sources, fn, options)
  options = options or {}
  for key in pairs(options) do
    if key ~= "examples" and not LIMITS[key] then
      misuse("args.unknown_key", "push.test.property has no option " .. host.show(key), "its options are cases, shrinks and examples")
    end
  end
  local examples = examples_of(options)
  local limits = { limit_of(options, "cases"), limit_of(options, "shrinks"), #examples }
  host.declare("push.test.property", function(names)
    return call["host.declare_property"](name, names, limits)
  end, function()
    local example = call["host.property_example"]()
    local case
    if example then case = host.deep_copy(examples[example]) else case = value_of(sources) end
    call["host.property_case"](host.literal(case))
    fn(case)
  end)
end)

function push.test.property(...)
  if not host.passes_over() then return declare(...) end
end

-- Snapshots --------------------------------------------------------------------------------------------------------

-- Maximum bytes shown of a value without a snapshot.
local LONGEST_VALUE = 2000

push.test.snapshot = checked("push.test.snapshot", function(value, name)
  local text = type(value) == "string" and value or host.literal(value)
  local answer = call["host.snapshot"](text, name, host.is_running())
  local verdict, key, stored = answer[1], answer[2], answer[3]
  if verdict == "same" then
    call["host.expectation_met"]()
    return
  end
  text = call["host.masked"](text)
  local message
  if verdict == "missing" then
    message = format('there is no snapshot "%s"; the value is:\n%s', key, host.cut(text, { left = LONGEST_VALUE }))
  else
    local difference = host.described(stored, text) or format("expected %s, got %s", host.show(stored), host.show(text))
    message = format('the value differs from the snapshot "%s": %s', key, difference)
  end
  call["host.expectation_failed"] { message = message, expected = stored, actual = text }
  raise {
    kind = "failure", code = "expect.failed", message = message, details = { differences = 1 },
    hint = "if the value is right, store it: pushhost test --update",
  }
end)

return host.seal()
