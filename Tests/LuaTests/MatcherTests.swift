import Testing

@testable import Lua

@Suite struct MatcherTests {
    /// Random patterns with all features on random subjects, in both matchers: results and errors must be equal.
    /// Set `LUA_TEST_SEED` to repeat a failure.
    @Test(arguments: 0..<3)
    func `the matcher gives the results of the stock matcher`(part: Int64) {
        let seed = StockComparison.seed + part
        print("comparing with seed \(seed)")
        let error = StockComparison.run(Self.comparison, seed: seed, fuel: 4_000_000_000)
        #expect(error == nil, "seed \(seed)")
    }

    /// Steps are limited because the stock matcher would run for minutes.
    @Test(arguments: [
        "string.find(('a'):rep(30), ('a?'):rep(30) .. ('a'):rep(30) .. 'b')",
        "string.match(('a'):rep(400), 'a-a-a-a-b')",
        "string.gsub(('('):rep(1e6), '%b()', '')",
        "for _ in string.gmatch(('a'):rep(1e5), 'a*a*a*b') do end",
        "string.find(('a'):rep(2e5) .. 'c', ('a'):rep(1e5) .. 'b', 1, true) error('found out')",
        "string.find(('a'):rep(1e6), '[' .. ('b'):rep(1e6) .. ']x')",
        "string.gsub(('a'):rep(1e6), '[' .. ('b'):rep(1e6) .. ']', '')",
        "string.match(('a'):rep(1e6), '(a*)%1b')",
        "string.gsub(('x'):rep(1e5), '', ('y'):rep(100))",
    ])
    func `a pattern stops when its fuel is used up`(source: String) {
        #expect(StockComparison.run("while true do pcall(load[[\(source)]]) end", seed: 0, fuel: 20_000_000) == "stopped: 4")
    }

    static let comparison = """
        math.randomseed(...)
        local random, char = math.random, string.char
        local ours, theirs = string, stock.string
        local function pick(list) return list[random(#list)] end
        local letters = {"a", "b", "c", "1", " ", "_", "(", ")", "A", "\\0", "\\x80", "\\xff", "%", "]", "-", "^", "."}
        local function subject()
            local out = {}
            for i = 1, random(0, 18) do out[i] = random(4) > 1 and pick {"a", "b", "("} or pick(letters) end
            return ours.sub(table.concat(out), 1)
        end
        local singles = {
            "a", "b", "c", ".", "%a", "%A", "%c", "%d", "%D", "%g", "%l", "%p", "%s", "%S", "%u", "%w", "%W", "%x", "%z", "%Z",
            "%.", "%%", "%(", "%]", "%q", "\\0", "%\\0", "\\x80", "\\xff", "[ab]", "[^a]", "[a-c]", "[%w_]", "[^%s%p]", "[]]",
            "[^]]", "[a-]", "[-a]", "[%]]", "[%a-z]", "[\\0-\\x7f]", "[\\x80-\\xff]", "[^\\0]", "[(%)]", "^", "$", "-", "]",
        }
        local specials = {"%b()", "%bab", "%b((", "%f[%w]", "%f[^%w]", "%f[\\0]", "%1", "%2", "()", "()", "%b", "%f", "%0", "$"}
        local raw = {"%", "[", "]", "(", ")", "^", "$", ".", "*", "+", "-", "?", "a", "b", "1", "f", "\\0"}
        local function sequence(depth, left)
            local out = {}
            for i = 1, random(0, 4) do
                local kind = random(10)
                if kind <= 6 then
                    local suffix = ""
                    if left[1] > 0 and random(2) == 1 then
                        suffix = pick {"*", "+", "-", "?"}
                        left[1] = left[1] - 1
                    end
                    out[#out + 1] = pick(singles) .. suffix
                elseif kind <= 8 and depth < 3 then
                    out[#out + 1] = "(" .. sequence(depth + 1, left) .. ")"
                else
                    out[#out + 1] = pick(specials)
                end
            end
            return table.concat(out)
        end
        local function pattern()
            if random(8) == 1 then
                local out = {}
                for i = 1, random(8) do out[i] = pick(raw) end
                return table.concat(out)
            end
            return (random(5) == 1 and "^" or "") .. sequence(0, {4}) .. (random(6) == 1 and "$" or "")
        end
        local function shown(list)
            local out = {}
            for i = 1, list.n do out[i] = type(list[i]) == "string" and ours.format("%q", list[i]) or tostring(list[i]) end
            return table.concat(out, ", ")
        end
        local compared = 0
        local function compare(name, f, g, ...)
            compared = compared + 1
            local a, b = table.pack(pcall(f, ...)), table.pack(pcall(g, ...))
            local same = a.n == b.n
            for i = 1, a.n do same = same and a[i] == b[i] and math.type(a[i]) == math.type(b[i]) end
            if not same then
                error(name .. "(" .. shown(table.pack(...)) .. ") gives " .. shown(a) .. " instead of " .. shown(b), 0)
            end
        end
        local function all(gmatch)
            return function(...)
                local out, n = {}, 0
                for a, b, c in gmatch(...) do
                    n = n + 1
                    out[n] = tostring(a) .. "|" .. tostring(b) .. "|" .. tostring(c)
                end
                return n, table.concat(out, "\\n")
            end
        end
        local all_of_ours, all_of_theirs = all(ours.gmatch), all(theirs.gmatch)
        local fixed = {a = "1", b = 2, [1] = "one", ["("] = false, [""] = "empty", c = {}}
        local function callback(a, b)
            if a == "c" then return {} end
            if b then return b end
            if a == "b" then return nil end
            return #tostring(a)
        end
        local replacements = {"", "x", "%0", "%1", "<%1%%%0>", "%2", "%9", "%", "%a", 7, fixed, fixed, callback, callback}
        for round = 1, 14000 do
            local s, p = subject(), pattern()
            local init = random(3) == 1 and random(-22, 22) or nil
            compare("find", ours.find, theirs.find, s, p, init)
            compare("find plain", ours.find, theirs.find, s, ours.sub(p, 1, 2), init, true)
            compare("match", ours.match, theirs.match, s, p, init)
            compare("gmatch", all_of_ours, all_of_theirs, s, p, init)
            local most = random(5) == 1 and random(-1, 4) or nil
            compare("gsub", ours.gsub, theirs.gsub, s, p, pick(replacements), most)
        end
        for round = 1, 2000 do  -- long runs, and texts that agree for long
            local s = ("ab"):rep(random(2000)) .. pick(letters) .. ("a"):rep(random(3000))
            local p = ("ab"):rep(random(700)) .. pick(letters) .. ("a"):rep(random(100))
            compare("find plain", ours.find, theirs.find, s, p, random(-5000, 5000), true)
        end
        for _, case in ipairs {
            {("a"):rep(100), (".-"):rep(250) .. "b"}, {("a"):rep(300), ("a?"):rep(250)}, {"x", ("(x)"):rep(33)},
            {("x"):rep(40), ("()"):rep(32)}, {("x"):rep(250), ("(x)?"):rep(250)}, {"", ("("):rep(32)},
            {("a"):rep(70000) .. "b", "a*b"}, {("a"):rep(70000) .. "b", "b"}, {("a"):rep(70000) .. "b", "[^b]-b$"},
        } do
            compare("match", ours.match, theirs.match, table.unpack(case))
            compare("find", ours.find, theirs.find, table.unpack(case))
            compare("gsub", ours.gsub, theirs.gsub, case[1], case[2], "%0%0")
        end
        assert(compared > 70000)
        """
}
