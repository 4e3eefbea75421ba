/// A loop in Lua that runs unchanged in the sandbox and in stock Lua.
struct Loop {
    /// The name for `count` and the list of loops.
    var id: String
    var title: String
    /// Runs before the clock starts.
    var setup = ""
    /// Receives `n`, the number of rounds, and `f`, the function to call.
    var body: String
    /// The host function to call: its name in the sandbox, and in stock Lua.
    var function = (ours: "now", stock: "now")
    var iterations: Int
    var goal = Goal.none

    func source(calling function: String) -> String {
        """
        local n = ...
        local host = require("host")
        local now, f = host.now, host.\(function)
        \(setup)
        local begin = now()
        \(body)
        return now() - begin
        """
    }
}

extension Loop {
    static let all = bindings + language + patterns

    /// The ways to write a host function. For a new one, add a line here and its functions to `Host`.
    private static let variants: [(id: String, title: String, successor: Goal, record: Goal)] = [
        ("bytes", "borrowed bytes", .none, .ratio(1.1)),
        ("strings", "`String`", .ratio(1.6), .ratio(1.4)),
        ("values", "`LuaValue`", .none, .none),
    ]

    private static let bindings = variants.flatMap { variant -> [Loop] in
        let short = "local t = {topic = 'orders/eu', priority = 3, urgent = false}"
        let long = "local t = {topic = 'orders/eu/a-topic-of-more-than-15-bytes', priority = 3, urgent = false}"
        let call = "local r for i = 1, n do r = f('subscriber-1', t) end"
        let longCall = "local r for i = 1, n do r = f('subscriber-with-a-long-name', t) end"
        let fresh = "local r for i = 1, n do r = f('subscriber-1', {topic = 'orders/eu', priority = 3, urgent = false}) end"
        let record = (ours: "record_\(variant.id)", stock: "record")
        let successor =
            Loop(
                id: "successor-\(variant.id)", title: "integer → integer, \(variant.title)",
                body: "local x = 0 for i = 1, n do x = f(i) end",
                function: ("successor_\(variant.id)", "successor"), iterations: 100_000, goal: variant.successor)
        // Bytes and strings differ only in how they read a record.
        return (variant.id == "bytes" ? [] : [successor]) + [
            Loop(
                id: "record-\(variant.id)", title: "record → record, \(variant.title)", setup: short, body: call,
                function: record, iterations: 20_000, goal: variant.record),
            Loop(
                id: "record-long-\(variant.id)", title: "… with long strings, \(variant.title)", setup: long, body: longCall,
                function: record, iterations: 20_000),
            Loop(
                id: "record-fresh-\(variant.id)", title: "… with a new table for each call, \(variant.title)", body: fresh,
                function: record, iterations: 20_000),
        ]
    }

    private static let language = [
        Loop(
            id: "loop", title: "tight loop", body: "local x = 0 for i = 1, n do x = x + i % 7 end", iterations: 1_000_000,
            goal: .ratio(1.05)),
        Loop(
            id: "fib", title: "fib(20)",
            setup: "local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end",
            body: "for i = 1, n do fib(20) end", iterations: 5, goal: .ratio(1.05)),
        Loop(
            id: "resume", title: "coroutine resume and yield",
            setup: "local c = coroutine.wrap(function() while true do coroutine.yield() end end)",
            body: "for i = 1, n do c() end", iterations: 50_000),
    ]

    private static let text = "local text = ('The quick brown fox, 42 times, jumps over 7 lazy dogs; '):rep(4)"

    private static let patterns = [
        Loop(
            id: "match-date", title: "match of a date", setup: "local date = '2026-11-20T10:20:30Z'",
            body: "for i = 1, n do local y, m, d = date:match('(%d+)-(%d+)-(%d+)') end", iterations: 20_000,
            goal: .ratio(1.6)),
        Loop(
            id: "gsub", title: "gsub of every word", setup: text, body: "for i = 1, n do local s = text:gsub('%a+', '<%0>') end",
            iterations: 1_000, goal: .ratio(1.6)),
        Loop(
            id: "gmatch", title: "gmatch of every word", setup: text, body: "for i = 1, n do for w in text:gmatch('%a+') do end end",
            iterations: 1_000, goal: .ratio(1.6)),
        Loop(
            id: "scan", title: "find without a match", setup: text, body: "for i = 1, n do text:find('[0-9]+x') end",
            iterations: 2_000, goal: .ratio(1.6)),
        Loop(
            id: "plain-find", title: "plain find of a short needle", setup: text + " text = text .. 'needle'",
            body: "for i = 1, n do text:find('needle', 1, true) end", iterations: 20_000, goal: .ratio(1.5)),
    ]
}
