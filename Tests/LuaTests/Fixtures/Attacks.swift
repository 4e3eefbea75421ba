/// A script that tries to block its host, and its effect in stock Lua with a counting hook.
struct Attack: ExpressibleByStringLiteral {
    /// Why an attack is tested although that hook ends it.
    enum Reason {
        /// It does nothing against the hook: the minimum that a budget must end.
        case plain
        /// Each coroutine restarts the count of its hook.
        case counts
        /// It catches its end, depending on the position; a hook of stock Lua raises its error once.
        case chance
        /// One call takes long without running a hook, so the work must be counted inside of it.
        case long
        /// The functions that the library calls have instructions for the hook to count. Functions of the host may have none.
        case calls
    }

    let source: String
    /// Why stock Lua ends it; nil if stock Lua hangs.
    let endsInStock: Reason?

    init(_ source: String, endsInStock: Reason? = nil) {
        self.source = source
        self.endsInStock = endsInStock
    }

    init(stringLiteral source: String) { self.init(source) }
}

/// Scripts that try to block their host. Each runs forever, or nearly so.
enum Attacks {
    static let loops: [Attack] = [
        Attack("while true do end", endsInStock: .plain),
        "while true do pcall(function() while true do end end) end",
        Attack("local c <close> = setmetatable({}, {__close = function() while true do end end}) error('x')", endsInStock: .plain),
        Attack("tostring(setmetatable({}, {__tostring = function() while true do end end}))", endsInStock: .plain),
        Attack(
            "while true do local co = coroutine.create(function() local c <close> = setmetatable({}, {__close = function() "
                + "while true do end end}) coroutine.yield() end) coroutine.resume(co) coroutine.close(co) end"),
        Attack("while true do coroutine.wrap(function() end)() end", endsInStock: .counts),
        Attack("while true do coroutine.close(coroutine.create(print)) end", endsInStock: .counts),
        Attack("while true do coroutine.wrap(function() for i = 1, 90 do end end)() end", endsInStock: .counts),
        Attack("while true do collectgarbage('count') end", endsInStock: .plain),
        "while true do load('\\27Lua') load('return') pcall(function() debug.sethook() end) end",
        Attack("while true do pcall(error, setmetatable({}, {__tostring = error})) end", endsInStock: .chance),
        "local function f() return (('x'):gsub('.', f)) end while true do pcall(f) end",
        "local function f() return pcall(f) end while true do f() end",
        "local t = {} t.__index = function(_, k) return t[k + 1] end setmetatable(t, t) while true do pcall(function() return t[1] end) end",
        Attack("while true do pcall(table.sort, {3, 1, 2, 5, 4, 6, 8, 7}, function() return true end) end", endsInStock: .chance),
        Attack("while true do pcall(table.unpack, {}, 1, 1e7) end", endsInStock: .chance),
        Attack("while true do pcall(string.rep, 'x', 1e9) end", endsInStock: .chance),
    ]

    static let texts: [Attack] = [
        "string.find(('a'):rep(30), ('a?'):rep(30) .. ('a'):rep(30))",
        "string.find(('a'):rep(3000), '.-.-.-.-.-.-b')",
        "string.match(('a'):rep(400), 'a-a-a-a-b')",
        "string.gsub(('a'):rep(3000), 'a*a*a*a*a*b', '')",
        "for _ in string.gmatch(('('):rep(1e6), '%b()') do end",
        "string.find(('a'):rep(4e6), ('a'):rep(2e6) .. 'b', 1, true)",
        "(''):rep(1e18)",
        "(''):rep(1e18, '')",
        Attack("pcall(string.rep, ('x'):rep(1e6), 20)", endsInStock: .long),
        Attack("string.upper(('x'):rep(8e6))", endsInStock: .long),
        Attack("string.reverse(('x'):rep(8e6))", endsInStock: .long),
        Attack("string.byte(('x'):rep(9e5), 1, -1)", endsInStock: .long),
        Attack("string.char(table.unpack(table.move({1}, 1, 1, 2e5), 1, 1))", endsInStock: .long),
        Attack("string.format(('x'):rep(4e6))", endsInStock: .long),
        Attack("string.format('%q', ('\\0'):rep(2e6))", endsInStock: .long),
        Attack("string.format(('%%'):rep(2e6))", endsInStock: .long),
        Attack("pcall(string.pack, ('x'):rep(4e6))", endsInStock: .long),
        Attack("pcall(string.pack, 'c8000000', '')", endsInStock: .long),
        Attack("pcall(string.unpack, 'z', ('x'):rep(8e6))", endsInStock: .long),
        Attack("pcall(string.packsize, (' '):rep(16000))", endsInStock: .long),
        Attack("tonumber(('1'):rep(4e6)) tonumber((' '):rep(4e6) .. '1', 10)", endsInStock: .long),
        Attack("utf8.len(('x'):rep(8e6))", endsInStock: .long),
        Attack("utf8.offset(('x'):rep(8e6), 8e6)", endsInStock: .long),
        Attack("utf8.codepoint(('x'):rep(9e5), 1, -1)", endsInStock: .long),
        Attack("pcall(function() for _ in utf8.codes(('\\x80'):rep(8e6)) do end end)", endsInStock: .long),
        Attack("pcall(utf8.char, table.unpack({}, 1, 2e5))", endsInStock: .long),
        Attack("local s = ('x'):rep(4e6) s = s .. 'y'", endsInStock: .long),
        Attack("load(('x = 1 '):rep(7e5))", endsInStock: .long),
        Attack("load('x = \"' .. ('x'):rep(4e6) .. '\"')", endsInStock: .long),
        Attack("load('if x then ' .. ('elseif x then '):rep(2e4) .. 'end')", endsInStock: .long),
        Attack("load(('goto a '):rep(3e4) .. ('do ::a:: end '):rep(1e5))", endsInStock: .long),
    ]

    static let tables: [Attack] = [
        "table.move({}, 1, math.maxinteger, 1, {})",
        Attack("table.insert(long, 1, 1)", endsInStock: .calls),
        Attack("table.remove(long, 1)", endsInStock: .long),
        Attack(
            "table.sort(setmetatable({}, {__len = function() return 1 << 30 end, __index = function() return 1 end, __newindex = rawequal}))",
            endsInStock: .calls),
        Attack(
            "table.sort(setmetatable({}, {__len = function() return 1 << 30 end, __index = function() return 1 end, __newindex = rawequal}), rawequal)",
            endsInStock: .long),
        Attack("table.concat(setmetatable({}, {__index = type, __len = long_length}), '', 1, 1e5)", endsInStock: .long),
        Attack("table.concat(setmetatable({}, {__index = tostring, __len = long_length}), 'x', 1, 1e4)", endsInStock: .long),
        Attack("table.concat(setmetatable({}, {__index = function() return '' end}), '', 1, math.maxinteger)", endsInStock: .calls),
        Attack("table.unpack(setmetatable({}, {__index = function() end, __len = function() return 1e5 end}))", endsInStock: .long),
        Attack("select('#', table.unpack({}, 1, 9e5))", endsInStock: .long),
        Attack("table.pack(table.unpack({}, 1, 2e5))", endsInStock: .long),
        "table.move(setmetatable({}, {__index = type}), 1, 1e9, 1, setmetatable({}, {__newindex = rawequal}))",
        Attack("for k in pairs(many) do break end", endsInStock: .long),
        Attack("for k in pairs(numbers) do break end", endsInStock: .long),
        Attack("local it, t = pairs(many) for k in pairs(many) do many[k] = nil end it(t)", endsInStock: .long),
        Attack("table.sort(numbers, function(a, b) return a > b end)", endsInStock: .calls),
        Attack("table.insert(numbers, 1, 0) table.remove(numbers, 1)", endsInStock: .long),
        Attack("table.concat(numbers, ', ')", endsInStock: .long),
    ]

    /// Variables for the attacks on tables.
    static let tableSetUp = """
        local long_length = function() return 1 << 40 end
        local long = setmetatable({}, {__len = function() return 1 << 40 end, __index = function() return 1 end, __newindex = rawequal})
        local many, numbers = {}, {}
        for i = 1, 1e5 do many['key' .. i] = i numbers[i] = i end

        """

    /// Attacks in which single instructions of the interpreter take long, so that an instruction budget does not help.
    static let longInstructions: [Attack] = [
        "local a, b = ('x'):rep(8e6) .. 'a', ('x'):rep(8e6) .. 'b' while true do local _ = a < b end",
        "local a, b = ('x'):rep(8e6) .. 'a', ('x'):rep(8e6) .. 'a' while true do local _ = a == b end",
        Attack(
            "local t = {} for i = 1, 3e5 do t['k' .. i] = i end for k in next, t do t[k] = nil end while true do next(t) end",
            endsInStock: .long),
        "local s = ('1'):rep(4e6) while true do local _ = s + 1 end",
        Attack(
            "local t = {1} for i = 1, 2000 do t = setmetatable({}, {__index = t}) end while true do local _ = t[1] end", endsInStock: .long),
        "local t = {} while true do t[('x'):rep(1e6)] = nil end",
    ]

    /// Ways to catch the error that ends a script. `SPIN` computes forever.
    static let swallowers: [Attack] = [
        "while true do pcall(SPIN) end",
        "while true do xpcall(SPIN, function() SPIN() end) end",
        "xpcall(error, function() SPIN() end)",
        "while true do pcall(xpcall, SPIN, function() return xpcall(SPIN, SPIN) end) end",
        Attack("while true do local c <close> = setmetatable({}, {__close = SPIN}) pcall(SPIN) end", endsInStock: .chance),
        "pcall(setmetatable, {}, {__gc = SPIN}) while true do pcall(SPIN) end",
        "while true do coroutine.resume(coroutine.create(function() pcall(SPIN) end)) end",
        "while true do pcall(coroutine.wrap(function() pcall(SPIN) SPIN() end)) end",
        Attack(
            "while true do local co = coroutine.create(function() local c <close> = setmetatable({}, {__close = SPIN}) "
                + "coroutine.yield() end) coroutine.resume(co) coroutine.close(co) end"),
        "while true do pcall(table.sort, {3, 2, 1}, function() pcall(SPIN) return true end) end",
        "while true do pcall(table.sort, {3, 2, 1}, pcall) pcall(SPIN) end",
        "while true do pcall(string.gsub, 'xx', '.', function() pcall(SPIN) end) end",
        "while true do string.gsub(('x'):rep(1e5), '.', pcall) end",
        "while true do pcall(function() return setmetatable({}, {__index = SPIN}).x end) end",
        "while true do pcall(function() return setmetatable({}, {__lt = SPIN}) < {} end) end",
        "while true do pcall(tostring, setmetatable({}, {__tostring = SPIN})) end",
        Attack("while true do pcall(error, setmetatable({}, {__tostring = SPIN, __close = SPIN})) end", endsInStock: .chance),
        "local function again() pcall(SPIN) return again() end pcall(again)",
        Attack("local function deep() pcall(deep) pcall(SPIN) end deep()", endsInStock: .chance),
        "while true do pcall(string.rep, ('x'):rep(1e5), 50) pcall(string.find, ('a'):rep(300), 'a-a-a-a-b') end",
        "while true do pcall(load, ('x = 1 '):rep(1e5)) end",
        Attack(
            "local function nest(n) if n == 0 then SPIN() end return coroutine.wrap(function() local c <close> = "
                + "setmetatable({}, {__close = SPIN}) return pcall(xpcall, nest, SPIN, n - 1) end)() end while true do pcall(nest, 20) end"),
    ]

    /// More attacks, which also have their own tests.
    static let others: [Attack] = [
        "xpcall(error, function() while true do end end)",
        "setmetatable({}, {__gc = function() while true do end end}) collectgarbage()",
        "load('if x then ' .. ('elseif x then '):rep(2e5) .. 'end')",
    ]

    /// All attacks as scripts for stock Lua, each with its setup.
    static var inStock: [(setUp: String, attack: Attack)] {
        (loops + texts + longInstructions + others).map { ("", $0) } + tables.map { (tableSetUp, $0) }
            + swallowers.map { ("local SPIN = function() while true do end end ", $0) }
    }
}
