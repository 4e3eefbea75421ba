import Lua
import PushCore
import Support
import Testing

@testable import Bindings

/// Calls of plugins are runs: what the host does for them is charged, and what they held is given back.
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

    @Test func `what a call writes to the log is bounded, also when it catches every error`() async throws {
        let bench = try PluginBench()
        let error = try await failure(of: "while true do pcall(print, ('x'):rep(100000)) end", bench)
        #expect(error.message.contains("budget.output"), "\(error)")
        #expect(bench.messages.reduce(0) { $0 + $1.text.utf8.count } < 5 << 20)
    }

    @Test func `files that a call opens are counted`() async throws {
        let bench = try PluginBench()
        let error = try await failure(of: "for i = 1, 1e6 do pcall(require, 'none' .. i % 7) end", bench)
        #expect(["budget.files", "budget.cpu"].contains { error.message.contains($0) }, "\(error)")
    }

    @Test func `what a call that spent the memory leaves behind is freed, without another call`() async throws {
        let (reliefs, relieved) = AsyncStream.makeStream(of: Void.self)
        let bench = try PluginBench(onRelief: { relieved.yield() })
        let error = try await failure(of: "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", bench)
        #expect(error.message.contains("budget.memory"), "\(error)")
        var iterator = reliefs.makeAsyncIterator()
        #expect(await iterator.next() != nil)
    }

    @Test func `a state that another one has replaced is given back, whoever still knows the version`() async throws {
        let bench = try PluginBench()
        let source = PluginBench.plugin(
            "full",
            "hooks = { before_send = { on_failure = 'fail_open', run = function() kept[#kept + 1] = ('x'):rep(1 << 20) .. #kept end } }",
            before: "kept = {}")
        let loaded = try await bench.load(source)
        bench.host.install([loaded])
        let instance = try #require(loaded.script)
        for _ in 0..<40 { _ = try await bench.host.beforeSend(bench.draft()) }
        try await until { bench.texts.contains { $0.contains("begins anew") } }
        // The version is known still, as the supervisor of a server knows it; its state is not.
        let live = try #require(bench.host.live.first?.plugin.script)
        #expect(live !== instance)
        bench.host.install([loaded])
        #expect(bench.host.live.first?.plugin.script === live)
        #expect(instance.isRetired && !live.isRetired)
    }
}
