import Lua
import PushModel
import Support
import Testing

@testable import Bindings

/// Calls of plugins are runs: they are charged for the host's work, and the memory they held is released.
@Suite struct PluginAccountTests {
    private func hook(_ body: String) -> PluginSource {
        PluginBench.plugin(
            "p", "hooks = { before_send = { on_failure = 'fail_closed', cpu = '1s', timeout = '10s', run = function() \(body) end } }")
    }

    private func failure(of body: String, _ bench: PluginBench, grants: [String] = []) async throws -> PushError {
        try await bench.install(hook(body), grants: grants)
        let draft = try bench.draft()
        let error = await #expect(throws: PushError.self) { try await bench.host.beforeSend(draft) }
        return try #require(error)
    }

    @Test func `the log of a call is limited, also when the call catches every error`() async throws {
        let bench = try PluginBench()
        let error = try await failure(of: "while true do pcall(print, ('x'):rep(100000)) end", bench)
        #expect(error.message.contains("budget.output"), "\(error)")
        #expect(bench.messages.reduce(0) { $0 + $1.text.utf8.count } < 5 << 20)
    }

    @Test func `files that a call opens count against its budget`() async throws {
        let bench = try PluginBench()
        let error = try await failure(of: "for i = 1, 1e6 do pcall(require, 'none' .. i % 7) end", bench)
        #expect(["budget.files", "budget.cpu"].contains { error.message.contains($0) }, "\(error)")
    }

    @Test func `memory of a call that exceeded its budget is freed without another call`() async throws {
        let (reliefs, relieved) = AsyncStream.makeStream(of: Void.self)
        let bench = try PluginBench(onMemoryFreed: { relieved.yield() })
        let error = try await failure(of: "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", bench)
        #expect(error.message.contains("budget.memory"), "\(error)")
        var iterator = reliefs.makeAsyncIterator()
        #expect(await iterator.next() != nil)
    }

    @Test(arguments: [
        "return { body = ('x'):rep(1.5e7) }", "return { json = { ('x'):rep(1.5e7) } }", "return { body = ('x'):rep(1.5e7), status = 1 }",
    ])
    func `memory of a response that is rejected is freed without another call`(body: String) async throws {
        let (reliefs, relieved) = AsyncStream.makeStream(of: Void.self)
        let bench = try PluginBench(onMemoryFreed: { relieved.yield() })
        try await bench.install(
            PluginBench.plugin(
                "p", "routes = { { path = '/go', auth = 'open', cpu = '10s', timeout = '60s', run = function() \(body) end } }"))
        guard case .found(let route) = bench.host.route(plugin: "p", method: "GET", path: ["go"]) else {
            Issue.record("no route")
            return
        }
        let error = await #expect(throws: PushError.self) { try await route.answer(PluginRequest(method: "GET", path: ["go"])) }
        #expect(error?.code == "route.failed")
        var iterator = reliefs.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        let instance = try #require(bench.host.live.first?.plugin.script)
        #expect(await instance.memoryInUse < 4 << 20)
    }

    @Test func `a replaced state is closed although its version is still referenced`() async throws {
        let bench = try PluginBench()
        let source = PluginBench.plugin(
            "full",
            "hooks = { before_send = { on_failure = 'fail_open', run = function() kept[#kept + 1] = ('x'):rep(1 << 20) .. #kept end } }",
            before: "kept = {}")
        let loaded = try await bench.load(source)
        bench.host.install([loaded])
        let instance = try #require(loaded.script)
        for _ in 0..<40 { _ = try await bench.host.beforeSend(bench.draft()) }
        try await until { bench.texts.contains { $0.contains("restarted, because") } }
        // The version is still referenced, as by a server's supervisor; its state is not.
        let live = try #require(bench.host.live.first?.plugin.script)
        #expect(live !== instance)
        bench.host.install([loaded])
        #expect(bench.host.live.first?.plugin.script === live)
        #expect(instance.isRetired && !live.isRetired)
    }
}
