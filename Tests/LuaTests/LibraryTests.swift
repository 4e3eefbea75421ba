import Testing

@testable import Lua

@Suite struct LibraryTests {
    /// Functions that are reimplemented so that they can be stopped give the results of the stock library.
    @Test func `the library gives the results of the stock library`() {
        let seed = StockComparison.seed
        let error = StockComparison.run(Self.comparison, seed: seed, fuel: 4_000_000_000)
        #expect(error == nil, "seed \(seed)")
    }

    @Test func `numbers are parsed as the manual says`() async throws {
        let bench = try await Bench()
        try await bench.run(
            """
            local function check(wanted, ...)
                local got = tonumber(...)
                if got ~= wanted or math.type(got) ~= math.type(wanted) then
                    error(("tonumber(%q) gives %s"):format(..., tostring(got)))
                end
            end
            check(12, "12") check(12.5, " 12.5 ") check(255, "0xff") check(nil, "12x") check(nil, "") check(nil, "1\\0")
            check(7, 7) check(7.0, 7.0) check(1000.0, "1e3") check(nil, "1 2") check(nil, nil) check(nil, {}) check(nil, "nan")
            check(255, "ff", 16) check(-255, " -FF\\n", 16) check(35, "z", 36) check(nil, "8", 8) check(nil, "", 10)
            check(nil, "1.5", 10) check(nil, "- 1", 10) check(5, "+101", 2) check(nil, "1\\0", 10) check(nil, " ", 10)
            check(-1, ("f"):rep(16), 16) check(0, ("0"):rep(5000), 10)
            for _, wrong in ipairs { {}, {"1", 1}, {"1", 37}, {1, 10}, {"1", "x"} } do
                assert(not pcall(tonumber, table.unpack(wrong)))
            end
            """)
    }

    static let comparison = """
        math.randomseed(...)
        local random = math.random
        local function shown(list)
            local out = {}
            for i = 1, list.n do out[i] = type(list[i]) == "string" and string.format("%q", list[i]) or tostring(list[i]) end
            return table.concat(out, ", ")
        end
        local function same(a, b, deep)
            if type(a) == "table" and type(b) == "table" then
                if deep > 3 then return true end
                for k, v in pairs(a) do if not same(v, b[k], deep + 1) then return false end end
                for k in pairs(b) do if a[k] == nil then return false end end
                return true
            end
            return a == b and math.type(a) == math.type(b) or a ~= a and b ~= b
        end
        local function compare(library, name, make)  -- `make` makes the same arguments each time
            local a, b = make(), make()
            local ours = table.pack(pcall(_G[library][name], table.unpack(a, 1, a.n)))
            local theirs = table.pack(pcall(stock[library][name], table.unpack(b, 1, b.n)))
            if not theirs[1] then theirs[2] = theirs[2]:gsub("'%?'", "'" .. library .. "." .. name .. "'") end  -- it has no name there
            if ours.n ~= theirs.n or not same(ours, theirs, 0) or not same(a, b, 0) then
                error(name .. "(" .. shown(make()) .. ") gives " .. shown(ours) .. " instead of " .. shown(theirs), 0)
            end
        end
        local function values(...)
            local list = table.pack(...)
            return function() return list end
        end
        local function any(...) return (select(random(select("#", ...)), ...)) end
        local function text()
            local out = {}
            for i = 1, random(0, 12) do
                out[i] = any("a", "B", "z", "Z", "[", "é", "€", "😀", "\\0", "\\x80", "\\xff", "\\xed\\xa0\\x80", "\\n", '"', "7",
                    "\\xf4\\x90\\x80\\x80", "\\xfd\\xbf\\xbf\\xbf\\xbf\\xbf", "\\xc0\\x80")
            end
            return table.concat(out)
        end
        local function place() return any(nil, 0, 1, 2, 5, -1, -2, -9, 40, math.mininteger, math.maxinteger, 1.5, "2", {}) end
        for round = 1, 4000 do
            compare("string", any("lower", "upper", "reverse"), values(text()))
            compare("string", "rep", values(text(), any(-1, 0, 1, 2, 7, 100), any(nil, "", ",", "abc")))
            compare("string", "byte", values(text(), place(), place()))
            compare("string", "char", values(any(0, 65, 255, 256, -1, "66", 1.5), any(nil, 65, {})))
            compare("string", "format", values(
                any("%d", "%5d", "%-5d|", "%05.3d", "%+i", "% d", "%x", "%#X", "%o", "%u", "%c", "%5.1f", "%g", "%-10e|", "%a",
                    "%q", "%5q", "%s", "%10s|", "%-10s|", "%.3s", "%5.2s|", "%%", "%", "%y", "%d%", "%0100d", "%.123f", "%F",
                    "%ld", "% +-#0s", "x%sy%sz", "%s %d %q", "%.20f", "%.99f", "%099d", "%1$d", "%\\0", "\\0%d"),
                any(nil, 1, -7, 2.0, 2.5, 1e308, 1/0, -1/0, 0/0, "3", "x", true, text(), ("x"):rep(200), math.mininteger),
                any(nil, 4, "w", 0.1)))
            for _, name in ipairs {"len", "codepoint", "offset"} do
                compare("utf8", name, name == "offset" and values(text(), any(0, 1, 2, 5, -1, -3, {}), place())
                    or values(text(), place(), place(), any(nil, true)))
            end
            compare("utf8", "char", values(any(65, 0x7f, 0x80, 0x7ff, 0xffff, 0x10ffff, 0x7fffffff, -1, {}), any(nil, 0x20ac)))
            local word, is_lax = text(), any(true, false)
            local function all(codes)
                local out = {}
                local ok, e = pcall(function() for p, c in codes(word, is_lax) do out[#out + 1] = p .. ":" .. c end end)
                return table.concat(out, " ") .. tostring(ok and ok or e:match("[^:]*$"))
            end
            assert(all(utf8.codes) == all(stock.utf8.codes), word)
        end
        local log
        local function watched(list)  -- a proxy that notes every access
            return setmetatable({}, {
                __index = function(_, k) log[#log + 1] = "r" .. tostring(k) return list[k] end,
                __newindex = function(_, k, v) log[#log + 1] = "w" .. tostring(k) .. tostring(v) list[k] = v end,
                __len = function() return #list end,
            })
        end
        local function traced(library, name, make)
            local function try(f)
                log = {}
                local arguments = make()
                local results = table.pack(pcall(f, table.unpack(arguments, 1, arguments.n)))
                if type(results[2]) == "table" then results[2] = results[2] == arguments[1] end
                return table.concat(log, " ") .. " = " .. shown(results)
            end
            local ours = try(_G[library][name])
            local theirs = try(stock[library][name]):gsub("'%?'", "'" .. library .. "." .. name .. "'")
            if ours ~= theirs then error(name .. ": " .. ours .. " instead of " .. theirs, 0) end
        end
        for round = 1, 3000 do
            local items, size = {}, random(0, 9)
            for i = 1, size do items[i] = any(3, 1, 2, 2.5, -4, 9, 7) end
            if random(12) == 1 then items[random(size + 1)] = any("x", true, {}) end
            local function list() return table.move(items, 1, #items, 1, {}) end
            local a, b, c, d = place(), place(), place(), any(nil, "x", ",")
            local wrap = any(watched, function(x) return x end)
            local function make(...)
                local rest = table.pack(...)
                return function() return table.pack(wrap(list()), table.unpack(rest, 1, rest.n)) end
            end
            for _, way in ipairs {compare, traced} do
                if way == traced or wrap ~= watched then
                    if random(2) == 1 then way("table", "insert", make(a, 5)) else way("table", "insert", make(a)) end
                    if random(2) == 1 then way("table", "remove", make()) else way("table", "remove", make(a)) end
                    local from, to = any(1, 2, 3, -1), any(0, 1, 5, 9)
                    way("table", "move", make(from, to, any(1, 2, 3, -2, math.maxinteger), any(nil, nil, {})))
                    way("table", "concat", make(d, any(nil, 1, 2, -1), any(nil, 0, 3, 9)))
                    way("table", "unpack", make(any(nil, 1, 2, -1), any(nil, 0, 3, 9)))
                    way("table", "sort", make(any(nil, function(x, y) return x > y end, function() return true end, 5)))
                end
            end
        end
        for _, kind in ipairs {function(i) return i end, function(i) return -i end, function() return random(500) end,
            function(i) return i % 2 == 0 and i or -i end, function() return 1 end} do
            local first, second = {}, {}
            for i = 1, 3000 do first[i] = kind(i) second[i] = first[i] end
            table.sort(first) stock.table.sort(second)
            assert(same(first, second, 0))
        end
        for _, wrong in ipairs {
            {"insert"}, {"insert", {}}, {"insert", {}, 1, 2, 3}, {"insert", 5, 1}, {"insert", setmetatable({}, {__len = print}), 1},
            {"remove", "x"}, {"remove", {}, 7}, {"move", {}, 1, math.maxinteger, 2}, {"move", {}, -1, math.maxinteger, 2},
            {"concat", {1, {}, 3}}, {"concat", {}, 5, 1, 2}, {"unpack", {}, 1, 1e8}, {"unpack"}, {"sort", {1, "x"}},
            {"sort", setmetatable({}, {__len = function() return math.maxinteger end})}, {"sort", {3, 2, 1}, 5},
            {"pack", 1, nil, 3, nil}, {"sort", {1, 2, 3, nil, 5}}, {"concat", setmetatable({}, {__len = function() return "x" end})},
        } do
            local name = table.remove(wrong, 1)
            traced("table", name, function() return table.pack(table.unpack(wrong)) end)
        end
        """
}
