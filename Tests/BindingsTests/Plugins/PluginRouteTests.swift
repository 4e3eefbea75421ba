import Lua
import PushModel
import Support
import Testing

@testable import Bindings

@Suite struct PluginRouteTests {
    private static let greet = """
        needs = { "kv" },
        routes = {
          { path = "/greetings/{name}", auth = "open", params = { times = { type = "integer", min = 1, max = 3, default = 1 } },
            run = function(request)
              if request.params.name == "nobody" then return end
              if request.params.name == "boom" then error "boom" end
              if request.params.name == "odd" then return { status = 9 } end
              return { json = { hello = request.params.name, times = request.params.times, user = request.user } }
            end },
          { path = "/greetings/special", auth = "account", run = function() return { body = "special" } end },
          { method = "POST", path = "/seen", auth = { webhook = "hook" }, run = function(request)
              return { status = 201, json = { count = push.kv.add "seen", got = request.json }, headers = { ["X-Seen"] = "yes" } }
            end },
        }
        """

    private func answer(
        _ bench: PluginBench, _ method: String, _ path: [String], query: [(name: String, value: String)] = [], body: [UInt8] = []
    ) async throws -> PluginResponse? {
        guard case .found(let route) = bench.host.route(plugin: "greet", method: method, path: path) else { return nil }
        return try await route.answer(PluginRequest(method: method, path: path, query: query, body: body))
    }

    @Test func `a route answers with what its function returns`() async throws {
        let bench = try PluginBench(secrets: ["hook": "whsec"])
        try await bench.install(PluginBench.plugin("greet", Self.greet), grants: ["kv", "secret:hook"])
        let hello = try await answer(bench, "GET", ["greetings", "ana"], query: [("times", "2")])
        #expect(hello?.status == 200)
        #expect(hello?.headers == [PushHeader("Content-Type", "application/json")])
        #expect(String(decoding: hello?.body ?? [], as: UTF8.self) == #"{"hello":"ana","times":2}"#)
        #expect(try await answer(bench, "GET", ["greetings", "nobody"]) == PluginResponse(status: 204))
        // A literal part matches before a part in braces.
        #expect(try await answer(bench, "GET", ["greetings", "special"])?.body == Array("special".utf8))
        for count in 1...2 {
            let seen = try await answer(bench, "POST", ["seen"], body: Array(#"{"a":1}"#.utf8))
            #expect(seen?.status == 201)
            #expect(seen?.headers.first == PushHeader("X-Seen", "yes"))
            #expect(String(decoding: seen?.body ?? [], as: UTF8.self) == #"{"count":\#(count),"got":{"a":1}}"#)
        }
        guard case .found(let route) = bench.host.route(plugin: "greet", method: "POST", path: ["seen"]) else { return }
        #expect(route.authentication == .webhook(secret: "hook", scheme: .pushhost))
        #expect(route.webhookSecret()?.reveal() == "whsec")
        bench.host.restrict("greet", to: [.kv])
        #expect(route.webhookSecret() == nil, "a secret is to be granted")
    }

    @Test func `an unknown path and a wrong method have different results`() async throws {
        let bench = try PluginBench()
        try await bench.install(PluginBench.plugin("greet", Self.greet))
        guard case .otherMethods(["POST"]) = bench.host.route(plugin: "greet", method: "GET", path: ["seen"]) else {
            Issue.record("it takes POST")
            return
        }
        for (plugin, path) in [("greet", ["other"]), ("other", ["seen"]), ("greet", ["greetings", "a", "b"]), ("greet", [""])] {
            guard case .notFound = bench.host.route(plugin: plugin, method: "GET", path: path) else {
                Issue.record("\(plugin) \(path)")
                continue
            }
        }
    }

    @Test(
        arguments: [
            ([("times", "4")], "\"times\" must be at most 3, got 4"), ([("times", "two")], "\"times\" must be a whole number, got \"two\""),
            ([("tims", "2")], "\"tims\" is not a parameter of this route; did you mean \"times\"?"),
            ([("times", "1"), ("times", "2")], "\"times\" is given twice"),
            ([("name", "eve")], "\"name\" is not a parameter of this route"),
        ])
    func `parameters are checked before the function runs`(query: [(String, String)], expected: String) async throws {
        let bench = try PluginBench()
        try await bench.install(PluginBench.plugin("greet", Self.greet))
        let error = await #expect(throws: PushError.self) {
            try await answer(bench, "GET", ["greetings", "ana"], query: query.map { (name: $0.0, value: $0.1) })
        }
        #expect(error?.code == "request.parameter")
        #expect(error?.status == 400)
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
        #expect(bench.host.statuses.first?.calls == 0)
    }

    @Test(arguments: [("boom", "script.error"), ("odd", "route.answer")])
    func `the caller of a failing function learns only that it failed`(name: String, code: String) async throws {
        let bench = try PluginBench()
        try await bench.install(PluginBench.plugin("greet", Self.greet))
        let error = await #expect(throws: PushError.self) { try await answer(bench, "GET", ["greetings", name]) }
        #expect(error?.code == "route.failed")
        #expect(error?.status == 500)
        #expect(error?.message.contains("boom") == false)
        let line = try #require(bench.messages.first)
        #expect(line.text.contains("(\(code))"))
        #expect(line.location?.description.hasPrefix("plugins/greet/init.lua:") == true, "\(line)")
        #expect(error?.details["run"]?.string == line.run)
    }

    // MARK: - Stored values and timers

    @Test func `values are stored per plugin, with conditions, counters and slots`() async throws {
        let bench = try PluginBench()
        let source = """
            needs = { "kv" },
            hooks = { after_send = function()
              local kv = push.kv
              local entry = kv.entry "a"
              push.log(kv.get "a", entry, kv.put("a", { value = { n = 1 }, if_absent = true }), kv.put("a", { value = 2, if_absent = true }))
              local version = kv.entry("a").version
              push.log(kv.get("a").n, kv.put("a", { value = "x", if_version = version }), kv.put("a", { value = "y", if_version = version }))
              push.log(kv.add("count", { amount = 5 }), kv.add "count", #kv.keys { prefix = "c" }, kv.delete "a", kv.delete "a")
              local first = kv.take({ "p", "q" }, { token = "n-1", limit = 1, within = "1h" })
              local again = kv.take({ "p", "q" }, { token = "n-1", limit = 1, within = "1h" })
              local other = kv.take({ "p" }, { token = "n-2", limit = 1, within = "1h" })
              push.log(first[1], first[2], again[1], other[1])
            end }
            """
        try await bench.install(PluginBench.plugin("one", source), PluginBench.plugin("two", source), grants: ["kv"])
        await bench.host.afterSend(SentNotification(id: "n-1", draft: try bench.draft()))
        let expected = [
            "info nil\tnil\ttrue\tfalse", "info 1\ttrue\tfalse", "info 5\t6\t1\ttrue\tfalse", "info true\ttrue\ttrue\tfalse",
        ]
        #expect(bench.texts == expected + expected)
    }

    @Test func `timers run when they are due, never twice at a time, and failures are logged`() async throws {
        let bench = try PluginBench()
        try await bench.install(
            PluginBench.plugin(
                "clock",
                """
                every = {
                  { cron = "*/15 * * * *", run = function() push.log(push.clock.iso()) end },
                  { cron = "*/30 * * * *", timeout = "1h", run = function() push.sleep "40m" error "late" end },
                }
                """))
        bench.host.startTimers()
        /// Waits until this many tasks sleep and the first wakes at that time: finished calls have no deadline left.
        func rests(_ count: Int, until seconds: Int) async throws {
            try await until {
                bench.hub.clock.sleepingTaskCount == count && bench.hub.clock.nextDeadline == HubBench.startTime + .seconds(seconds)
            }
        }
        func reach(_ text: String) async throws { try await until { bench.texts.contains(text) } }
        try await rests(1, until: 900)
        bench.hub.clock.advance(to: HubBench.startTime + .seconds(900))
        try await reach("info 2026-01-05T09:15:00.000Z")
        try await rests(1, until: 1800)
        bench.hub.clock.advance(to: HubBench.startTime + .seconds(1800))
        try await reach("info 2026-01-05T09:30:00.000Z")
        // The timer, the deadline of the sleeping call, and its sleep.
        try await rests(3, until: 2700)
        bench.hub.clock.advance(to: HubBench.startTime + .seconds(2700))
        try await reach("info 2026-01-05T09:45:00.000Z")
        try await rests(3, until: 3600)
        bench.hub.clock.advance(to: HubBench.startTime + .seconds(3600))
        try await reach("info 2026-01-05T10:00:00.000Z")
        try await reach("warn every[2] was skipped: the previous call is still in progress")
        try await rests(3, until: 4200)
        bench.hub.clock.advance(to: HubBench.startTime + .seconds(4200))
        try await until { bench.texts.contains(where: { $0.hasPrefix("error every failed: late") }) }
        #expect(bench.texts.count == 6, "\(bench.texts)")
    }

    @Test func `replacing a plugin loses no due time and repeats none`() async throws {
        let bench = try PluginBench()
        func version(_ number: Int) -> PluginSource {
            PluginBench.plugin(
                "clock", "every = { { cron = '* * * * *', run = function() push.log(push.clock.iso()) end } }, desc = '\(number)'")
        }
        try await bench.install(version(0))
        bench.host.startTimers()
        for number in 1...20 {
            let next = try await bench.load(version(number))
            try await until { bench.hub.clock.sleepingTaskCount >= 1 }
            bench.hub.clock.advance(to: HubBench.startTime + .seconds(60 * number))
            bench.host.install([next])
            try await until { bench.texts.count >= number }
        }
        let times = (1...20).map { "info \((HubBench.startTime + .seconds(60 * $0)).description)" }
        #expect(bench.texts == times)
        // A new plugin does not catch up on earlier times.
        bench.hub.clock.advance(to: HubBench.startTime + .seconds(60 * 20 + 59))
        bench.host.install([
            try await bench.load(PluginBench.plugin("other", "every = { { cron = '* * * * *', run = function() push.log 'other' end } }"))
        ])
        try await until { bench.hub.clock.nextDeadline == HubBench.startTime + .seconds(60 * 21) }
        #expect(bench.texts == times)
        // Nor does one whose schedule changes.
        bench.host.install([
            try await bench.load(
                PluginBench.plugin("other", "every = { { cron = '*/20 * * * *', run = function() push.log 'other' end } }"))
        ])
        try await until { bench.hub.clock.nextDeadline == HubBench.startTime + .seconds(60 * 40) }
        #expect(bench.texts == times)
    }
}
