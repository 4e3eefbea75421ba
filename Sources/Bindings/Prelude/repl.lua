-- Lua functions of an interactive session: compile the typed text, run it, and show the values.
local host = ...
local load, pcall, tostring, type, pairs, ipairs, next = load, pcall, tostring, type, pairs, ipairs, next
local getmetatable, rawget, select, pack, concat = getmetatable, rawget, select, table.pack, table.concat
local format, mathtype = string.format, math.type
local strings, length = string, utf8.len

-- Values -----------------------------------------------------------------------------------------------------------

local WIDTH, DEPTH, ENTRIES, PARTS, TEXT = 100, 6, 100, 1000, 2000
local ERROR_PARTS, NAMES = 50, 1000

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true
  until while]]):gmatch("%a+") do keywords[word] = true end

local function quoted(text)
  local cut = #text
  if cut > TEXT then
    cut = TEXT
    while cut > TEXT - 4 and (text:byte(cut + 1) & 0xC0) == 0x80 do cut = cut - 1 end
  end
  local shown = format("%q", text:sub(1, cut)):gsub("\\\n", "\\n")
  return cut < #text and format("%s… (%d bytes)", shown, #text) or shown
end

local function is_name(key) return type(key) == "string" and key:find("^[%a_][%w_]*$") and not keywords[key] end

local function name_of(key, part)
  if is_name(key) then return key end
  return "[" .. (type(key) == "string" and quoted(key) or tostring(part)) .. "]"
end

-- Converts a value to a text, or to a table with its label and entries. `open` holds the enclosing tables,
-- `budget` the number of entries that may still be shown.
local function part_of(value, open, budget)
  local kind = type(value)
  if kind == "string" then return quoted(value) end
  if kind == "function" then return "function" end
  local ok, text = pcall(tostring, value)
  if not ok then return "<" .. kind .. ">" end
  local label = kind == "table" and text:match("^(.*): 0x%x+$")
  if not label then return text end
  label = label == "table" and "" or label .. " "
  if open[value] then return label .. "{ itself }" end
  if open.depth >= DEPTH then return label .. "{…}" end
  local parts, count, hidden = { label = label }, 0, 0
  local function add(name, item)
    if #parts >= ENTRIES or budget.left <= 0 then
      hidden = hidden + 1
      return
    end
    budget.left = budget.left - 1
    parts[#parts + 1] = { name = name, part = part_of(item, open, budget) }
  end
  open[value], open.depth = true, open.depth + 1
  while rawget(value, count + 1) ~= nil do
    count = count + 1
    add("", value[count])
  end
  local walked = pcall(function()
    for key, item in pairs(value) do
      if mathtype(key) ~= "integer" or key < 1 or key > count then
        add(name_of(key, type(key) ~= "string" and part_of(key, { depth = DEPTH }, budget)) .. " = ", item)
      end
    end
  end)
  open[value], open.depth = nil, open.depth - 1
  if hidden > 0 then parts[#parts + 1] = { name = "", part = format("… %d more", hidden) } end
  return walked and parts or label .. "{…}"
end

local function flat(part)
  if type(part) == "string" then return part end
  if #part == 0 then return part.label .. "{}" end
  local texts = {}
  for index, entry in ipairs(part) do texts[index] = entry.name .. flat(entry.part) end
  return part.label .. "{ " .. concat(texts, ", ") .. " }"
end

-- Formats a value on one line if it fits, otherwise with one entry per line. `used` is the width already used on the line.
local function laid_out(part, indent, used)
  local text = flat(part)
  if type(part) == "string" or indent + used + (length(text) or #text) <= WIDTH then return text end
  local lines = {}
  for index, entry in ipairs(part) do
    lines[index] = (" "):rep(indent + 2) .. entry.name .. laid_out(entry.part, indent + 2, #entry.name + 1)
  end
  return part.label .. "{\n" .. concat(lines, ",\n") .. ",\n" .. (" "):rep(indent) .. "}"
end

local function shown(...)
  local texts = pack(...)
  for index = 1, texts.n do
    local part = part_of(texts[index], { depth = 0 }, { left = PARTS })
    texts[index] = texts.n == 1 and laid_out(part, 0, 0) or flat(part)
  end
  return concat(texts, "\t", 1, texts.n), texts.n
end

-- The raised value on one line.
local function shown_error(value) return flat(part_of(value, { depth = 0 }, { left = ERROR_PARTS })) end

-- Lines ------------------------------------------------------------------------------------------------------------

-- Whether more text could complete the chunk. A quoted string continues on the next line only after a backslash or \z.
local function may_go_on(message, text)
  if not message:find("near <eof>$") then return false end
  return not message:find("unfinished string near", 1, true) or text:find("\\z?$") ~= nil
end

-- Runs the first reading that compiles. Returns false if more text is needed, otherwise the values as text and their
-- number. `first` is the number of the text's first line in the session, so that errors show the right line.
local function evaluate(first, is_whole, ...)
  local above = ("\n"):rep(first - 1)
  local chunk, message, is_unfinished
  for _, reading in ipairs { ... } do
    chunk, message = load(above .. reading, "=repl")
    if chunk then break end
    is_unfinished = is_unfinished or may_go_on(message, reading)
  end
  if chunk then return shown(chunk()) end
  if is_unfinished and not is_whole then return false end
  local line, reason = message:match("^repl:(%d+): (.*)$")
  host.raise {
    kind = "syntax", code = "script.syntax", message = reason or message, where = line and "repl:" .. line, traceback = "",
  }
end

-- Names ------------------------------------------------------------------------------------------------------------

-- Completion runs no code of the session: it ignores metamethods, except those of host tables, whose members are
-- recorded before any line runs.
local own, absent = {}, {}

local function learn(value)
  if type(value) ~= "table" or own[value] then return end
  local members = {}
  own[value] = members
  for key, member in pairs(value) do
    members[key] = member
    learn(member)
  end
end

local function learn_globals()
  learn(require "push")
  for _, value in next, load("return _ENV")() do
    if type(value) == "table" and not own[value] and next(value) == nil then absent[value] = true end
  end
end

-- The tables in which a name is looked up: the value, and the __index tables of its metatables.
local function chain(value)
  local tables = {}
  while type(value) == "table" and #tables < 8 do
    tables[#tables + 1] = own[value] or value
    local meta = getmetatable(value)
    value = type(meta) == "table" and rawget(meta, "__index")
  end
  return tables
end

local function member(value, key)
  for _, tab in ipairs(chain(value)) do
    local found = rawget(tab, key)
    if found ~= nil then return found end
  end
end

-- The names that begin with `typed` in the value at a path; for a handle, the value itself.
local function members(typed, ...)
  local value = load("return _ENV")()
  for index = 1, select("#", ...) do
    value = member(value, (select(index, ...)))
    if value == nil then return {} end
  end
  if type(value) == "string" then value = strings end
  if type(value) == "userdata" then
    local is_task = tostring(value):find("^task: ") ~= nil
    return {}, is_task and "task" or value
  end
  local names, seen = {}, {}
  for _, tab in ipairs(chain(value)) do
    for key, item in next, tab do
      local fits = is_name(key) and key:sub(1, #typed) == typed and (typed ~= "" or key:sub(1, 2) ~= "__")
      if fits and #names < NAMES and not seen[key] and not absent[item] then
        seen[key] = true
        names[#names + 1] = key
      end
    end
  end
  return names
end

learn_globals()
host.functions["host.ready"](evaluate, members, shown_error)
