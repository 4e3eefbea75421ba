-- Comparisons of values for the push module: how expectations show values, compare them, and describe differences.
-- Runs after push.lua, which passes the unsealed module, and adds its functions to `host` for expectations.lua.
local host, push = ...
local call, raise = host.functions, host.raise
local concat = table.concat
local tostring, tonumber, type, pairs, ipairs, next, getmetatable = tostring, tonumber, type, pairs, ipairs, next, getmetatable
local format, find, gsub, sub, byte = string.format, string.find, string.gsub, string.sub, string.byte
local mathtype, max, huge, utf8_length = math.type, math.max, math.huge, utf8.len

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

-- Texts ------------------------------------------------------------------------------------------------------------

-- Combined bytes of two values up to which a message shows both of them whole, tokens of context around a change, and the most steps
-- of a comparison. Beyond those steps, all between the first and the last change is one change.
local SHORT, CONTEXT, MOST_STEPS = 60, 12, 250000

-- The words of a text, its runs of spaces, and its other characters one by one.
local function tokens(text)
  local list, place = {}, 1
  while place <= #text do
    local _, last = find(text, "^[%w_\x80-\xff]+", place)
    if not last then _, last = find(text, "^[ \t]+", place) end
    last = last or place
    list[#list + 1] = sub(text, place, last)
    place = last + 1
  end
  return list
end

-- The longest common subsequence of two lists from `first` on, as a table that says how many items the rests have in common.
local function common_rests(a, b, first, last_a, last_b)
  local rows = {}
  rows[last_a + 1] = {}
  for i = last_a, first, -1 do
    local row, below = {}, rows[i + 1]
    for j = last_b, first, -1 do
      row[j] = a[i] == b[j] and (below[j + 1] or 0) + 1 or max(below[j] or 0, row[j + 1] or 0)
    end
    rows[i] = row
  end
  return rows
end

-- The parts of two texts in order: tokens with the marks "=", "-" (only in the first) and "+" (only in the second).
-- Returns whether any word is common to both, too.
local function compared(a, b)
  local first, last_a, last_b = 1, #a, #b
  while first <= last_a and first <= last_b and a[first] == b[first] do first = first + 1 end
  while last_a >= first and last_b >= first and a[last_a] == b[last_b] do last_a, last_b = last_a - 1, last_b - 1 end
  local parts, has_common = {}, false
  local function add(mark, token)
    parts[#parts + 1] = { mark = mark, token = token }
    has_common = has_common or mark == "=" and find(token, "[%w\x80-\xff]") ~= nil
  end
  for place = 1, first - 1 do add("=", a[place]) end
  local i, j = first, first
  if (last_a - first + 1) * (last_b - first + 1) <= MOST_STEPS then
    local rows = common_rests(a, b, first, last_a, last_b)
    while i <= last_a and j <= last_b do
      if a[i] == b[j] then
        add("=", a[i])
        i, j = i + 1, j + 1
      elseif (rows[i + 1][j] or 0) >= (rows[i][j + 1] or 0) then
        add("-", a[i])
        i = i + 1
      else
        add("+", b[j])
        j = j + 1
      end
    end
  end
  for place = i, last_a do add("-", a[place]) end
  for place = j, last_b do add("+", b[place]) end
  for place = last_a + 1, #a do add("=", a[place]) end
  return parts, has_common
end

-- The difference of two texts by word: `Your order has [-shipped-]{+arrived+}`. The first is what was expected.
-- Nil if both are short, or have no word in common. `is_line`: line breaks are escaped.
local function text_difference(wanted, value, room, is_line)
  if #wanted + #value <= SHORT then return nil end
  -- Marks inside a secret would keep it from being masked later.
  wanted, value = call["host.masked"](wanted), call["host.masked"](value)
  if wanted == value then return nil end
  local parts, has_common = compared(tokens(wanted), tokens(value))
  if not has_common then return nil end
  local shown, place = {}, 1
  local function write(text)
    local fitting = cut(text, room)
    room.left = room.left - #text
    shown[#shown + 1] = fitting
  end
  while place <= #parts and room.left > 0 do
    local mark, last = parts[place].mark, place
    while parts[last + 1] and (parts[last + 1].mark == "=") == (mark == "=") do last = last + 1 end
    if mark == "=" then
      local words, is_first, is_last = {}, place == 1, last == #parts
      for index = place, last do
        local is_near = not is_first and index < place + CONTEXT or not is_last and index > last - CONTEXT
        if is_near then words[#words + 1] = parts[index].token
        elseif words[#words] ~= "…" then words[#words + 1] = "…" end
      end
      local text = concat(words)
      write(is_line and gsub(text, "\n", "\\n") or text)
    else
      -- All that one place lacks, then all that it has instead.
      local texts = { ["-"] = {}, ["+"] = {} }
      for index = place, last do
        local list = texts[parts[index].mark]
        list[#list + 1] = parts[index].token
      end
      for _, sign in ipairs { "-", "+" } do
        local text = gsub(gsub(concat(texts[sign]), "\r", "\\r"), "\n", "\\n")
        if text ~= "" then write(sign == "-" and "[-" .. text .. "-]" or "{+" .. text .. "+}") end
      end
    end
    place = last + 1
  end
  if place <= #parts then shown[#shown + 1] = "…" end
  return concat(shown)
end

-- Tables -----------------------------------------------------------------------------------------------------------

-- The differences of two tables, one per line: expected value and actual value.
-- At most MOST lines, within the available room.
local MOST, LONGEST_KEY = 20, 200

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
      local text = type(wanted) == "string" and type(value) == "string" and text_difference(wanted, value, room, true)
      lines[#lines + 1] = text and format("%s: %s", name, text) or format(
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

-- What the message of a failed comparison says about the differences, and how many there are. Nil if the values are short or of other
-- types: then the message shows both.
local function described(wanted, value, shown)
  if type(wanted) == "string" and type(value) == "string" then
    local text = text_difference(wanted, value, { left = ROOM })
    return text and "the texts differ, [-expected-]{+actual+}:\n" .. text, 1
  elseif type(wanted) == "table" and type(value) == "table" and #shown > SHORT then
    local lines = differences(wanted, value)
    return format("the tables have %d difference%s:\n%s", lines.count, lines.count == 1 and "" or "s", concat(lines, "\n")), lines.count
  end
end

-- Values as Lua text ----------------------------------------------------------------------------------------------

local KEYWORDS = {}
for word in
  string.gmatch("and break do else elseif end false for function goto if in local nil not or repeat return then true until while", "%a+")
do
  KEYWORDS[word] = true
end

-- Widest line of a table, and deepest nesting.
local WIDEST, DEEPEST_LITERAL = 100, 20

local function literal_text(value)
  local text = gsub(format("%q", value), "\\\n", "\\n")
  if not utf8_length(text) then text = gsub(text, "[\x80-\xff]", function(char) return format("\\x%02x", byte(char)) end) end
  return text
end

local function literal_number(value)
  if value ~= value then return "0/0" end
  if value == huge or value == -huge then return value > 0 and "1/0" or "-1/0" end
  local text = tostring(value)
  return tonumber(text) == value and text or format("%.17g", value)
end

-- The value as Lua text that can be pasted into a script. Values without such a text are shown as they print.
local function literal(value, indent, room)
  indent, room = indent or "", room or { left = ROOM }
  local text
  if type(value) == "string" then text = literal_text(cut(value, room))
  elseif type(value) == "number" then text = literal_number(value)
  elseif type(value) ~= "table" then text = cut(tostring(value), room) end
  if text then
    room.left = room.left - #text
    return text
  end
  if #indent > 2 * DEEPEST_LITERAL or room.left <= 0 then return "{ --[[ … ]] }" end
  local inner, parts, count, width, is_short = indent .. "  ", {}, 0, 0, true
  local function add(part)
    parts[#parts + 1] = part
    width = width + #part + 2
    is_short = is_short and not find(part, "\n", 1, true)
    room.left = room.left - 2
  end
  for index, item in ipairs(value) do
    if room.left <= 0 then break end
    add(literal(item, inner, room))
    count = index
  end
  for key, item in pairs(value) do
    if room.left <= 0 then
      add("--[[ … ]] nil")
      break
    elseif not (mathtype(key) == "integer" and key >= 1 and key <= count) then
      local is_name = type(key) == "string" and find(key, "^[%a_][%w_]*$") and not KEYWORDS[key]
      add((is_name and key or "[" .. literal(key, inner, room) .. "]") .. " = " .. literal(item, inner, room))
    end
  end
  if #parts == 0 then return "{}" end
  if is_short and #indent + width <= WIDEST then return "{ " .. concat(parts, ", ") .. " }" end
  return "{\n" .. inner .. concat(parts, ",\n" .. inner) .. ",\n" .. indent .. "}"
end

-- A copy of a value in which tables without a metatable are copied too, each once.
local function copied(value, copies)
  if type(value) ~= "table" or getmetatable(value) ~= nil and not host.is_list(value) then return value end
  copies = copies or {}
  if copies[value] then return copies[value] end
  local copy = {}
  copies[value] = copy
  if host.is_list(value) then host.list(copy) end
  for key, item in next, value do copy[key] = copied(item, copies) end
  return copy
end

host.show, host.cut, host.same, host.described, host.deep_copy, host.literal = show, cut, same, described, copied, literal

return push
