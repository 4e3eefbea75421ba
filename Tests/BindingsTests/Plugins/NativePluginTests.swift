import Lua
import PushModel
import Support
import Synchronization
import Testing

@testable import Bindings

/// Plugins written in Swift, beside plugins that are scripts.
@Suite struct NativePluginTests {
    /// Runs a closure of the test for each hook.
    private struct Hooks: NativeHooks {
        var draft: @Sendable (SendDraft) async throws -> SendDraft = { $0 }
        var deliver: @Sendable (any HookedGroup) async throws -> [DeliveryRuling] = { _ in [] }
        var told: @Sendable () async throws -> Void = {}

        func beforeSend(_ draft: SendDraft) async throws -> SendDraft { try await self.draft(draft) }
        func afterSend(_ sent: SentNotification) async throws { try await told() }
        func beforeDeliver(_ group: any HookedGroup) async throws -> [DeliveryRuling] { try await deliver(group) }
        func onOutcome(_ ended: EndedNotification) async throws { try await told() }
        func onRegister(_ draft: RegistrationDraft) async throws -> RegistrationDraft { draft }
        func onLogin(_ login: LoginDraft) async throws { throw HookVeto(reason: "not today, \(login.username)") }
        func onSecureFetch(_ fetch: SecureFetch) async throws {}
    }

    private struct Broken: Error {}

    private static func type(
        _ phases: Set<HookPhase>, name: String = "native", isFailClosed: Bool = false, settings: [ConfigSchema.Field] = [],
        _ hooks: Hooks = Hooks()
    ) -> NativePluginType {
        var schema = ConfigSchema()
        schema.fields = settings
        return NativePluginType(
            name: name, release: "2.0", summary: "", settings: schema, phases: phases, isFailClosed: isFailClosed, timeout: .seconds(1)
        ) { _ in hooks }
    }

    private static let configuration = PluginConfiguration(file: "plugins/plugins.yaml")

    @Test func `it runs in the order of the list and sees the changes of scripts before it`() async throws {
        let bench = try PluginBench()
        let adding = Self.type(
            [.beforeSend],
            Hooks(draft: { draft in
                var draft = draft
                draft.request.audience = .expression(
                    try TagExpression(parsing: "\(draft.request.audience.expression?.description ?? "") || n"))
                return draft
            }))
        let script = PluginBench.plugin(
            "script", "hooks = { before_send = { on_failure = 'fail_open', run = function(d) return { to = d.to .. ' || s' } end } }")
        let (native, lua) = (try bench.host.load(adding, Self.configuration), try await bench.load(script))
        bench.host.install([native, lua])
        #expect(try await bench.host.beforeSend(bench.draft()).request.audience.expression?.description == "Sports || n || s")
        bench.host.install([lua, native])
        #expect(try await bench.host.beforeSend(bench.draft()).request.audience.expression?.description == "Sports || s || n")
        #expect(bench.host.statuses.map(\.calls) == [2, 2])
        #expect(bench.host.statuses.last?.plugin.source.version == "native")
    }

    @Test func `its refusal is reported with its name and reason`() async throws {
        let bench = try PluginBench()
        bench.host.install([try bench.host.load(Self.type([.onLogin]), Self.configuration)])
        let veto = await #expect(throws: PushError.self) { try await bench.host.onLogin(LoginDraft(username: "ana")) }
        #expect(veto?.code == "hook.veto")
        #expect(veto?.message == "the plugin native rejected this: not today, ana")
        #expect(bench.texts == [])
    }

    @Test(arguments: [false, true]) func `a failure follows the policy, is logged with the call, and opens the breaker`(isClosed: Bool)
        async throws
    {
        let bench = try PluginBench()
        let type = Self.type([.beforeSend], isFailClosed: isClosed, Hooks(draft: { _ in throw Broken() }))
        bench.host.install([try bench.host.load(type, Self.configuration)])
        let draft = try bench.draft()
        for number in 1...6 {
            if isClosed {
                let error = await #expect(throws: PushError.self) { try await bench.host.beforeSend(draft) }
                #expect(error?.code == (number < 6 ? "hook.failed" : "hook.open"))
                #expect(error?.status == 503)
            } else {
                #expect(try await bench.host.beforeSend(draft) == draft)
            }
        }
        let failures = bench.messages.filter { $0.text.hasPrefix("before_send failed: Broken()") }
        #expect(failures.count == 5)
        #expect(failures.allSatisfy { $0.run?.hasPrefix("p-") == true && $0.version == "native" })
        #expect(bench.host.statuses.first?.open.map(\.hook) == [.beforeSend])
    }

    @Test func `a call that exceeds its timeout is cancelled`() async throws {
        let bench = try PluginBench()
        let wasCancelled = Mutex(false)
        let type = Self.type(
            [.beforeSend],
            Hooks(draft: { [clock = bench.hub.clock] draft in
                do { try await clock.sleep(until: .distantFuture) } catch { wasCancelled.withLock { $0 = true } }
                return draft
            }))
        bench.host.install([try bench.host.load(type, Self.configuration)])
        let draft = try bench.draft()
        let asked = Task { try await bench.host.beforeSend(draft) }
        try await until { bench.hub.clock.sleepingTaskCount >= 2 }
        bench.hub.clock.advance(to: HubBench.startTime + .seconds(1))
        #expect(try await asked.value == draft)
        #expect(bench.texts == ["error before_send failed: before_send of the plugin native took longer than 1000 ms (hook.timeout)"])
        try await until { wasCancelled.withLock { $0 } }
    }

    @Test func `a call whose caller is cancelled is cancelled too, and does not count as a failure`() async throws {
        let bench = try PluginBench()
        let type = Self.type(
            [.beforeSend],
            Hooks(draft: { [clock = bench.hub.clock] draft in
                try await clock.sleep(until: .distantFuture)
                return draft
            }))
        bench.host.install([try bench.host.load(type, Self.configuration)])
        let asked = Task { [draft = try bench.draft()] in try await bench.host.beforeSend(draft) }
        try await until { bench.hub.clock.sleepingTaskCount >= 2 }
        asked.cancel()
        _ = try? await asked.value
        #expect(bench.texts == [])
        #expect(bench.host.statuses.first?.failures == 0)
        try await until { bench.hub.clock.sleepingTaskCount == 0 }
    }

    @Test func `rulings of a hook that fails are not applied, rulings of one that succeeds are`() async throws {
        let bench = try PluginBench()
        let skip = DeliveryRuling(devices: .chosen([2]), decision: .skip, plugin: "native", reason: "asked for it")
        let good = Self.type(
            [.beforeDeliver],
            Hooks(deliver: { group in
                #expect(await group.devices(after: nil, limit: 10).map(\.number) == [1, 2])
                return [skip]
            }))
        bench.host.install([try bench.host.load(good, Self.configuration)])
        let group = try NotedGroup([HookedDevice(number: 1), HookedDevice(number: 2)])
        try await bench.host.beforeDeliver(group)
        #expect(group.rulings == [skip])
        let bad = Self.type([.beforeDeliver], isFailClosed: true, Hooks(deliver: { _ in throw Broken() }))
        bench.host.install([try bench.host.load(bad, Self.configuration)])
        let other = try NotedGroup([HookedDevice(number: 1)])
        await #expect(throws: PushError.self) { try await bench.host.beforeDeliver(other) }
        #expect(other.rulings == [])
    }

    @Test func `a failing notification hook does not stop the send`() async throws {
        let bench = try PluginBench()
        let type = Self.type([.afterSend, .onOutcome], Hooks(told: { throw Broken() }))
        bench.host.install([try bench.host.load(type, Self.configuration)])
        await bench.host.afterSend(SentNotification(id: "n-1", draft: try bench.draft()))
        #expect(bench.texts == ["error after_send failed: Broken() (host.error)"])
    }

    @Test func `its settings are checked like those of a script, and grants are refused`() async throws {
        let bench = try PluginBench()
        let field = ConfigSchema.Field(
            name: "limit", type: .integer(ConfigSchema.Bounds(minimum: 1, maximum: 9)), defaultValue: nil, isRequired: true, summary: "most"
        )
        func failure(_ values: JSON, grants: [Capability] = []) -> LuaError? {
            #expect(throws: LuaError.self) {
                try bench.host.load(
                    Self.type([], settings: [field]), PluginConfiguration(values: values, grants: grants, file: "plugins/plugins.yaml"))
            }
        }
        #expect(failure(.null)?.message == "plugins/plugins.yaml: native: config.limit is missing")
        #expect(failure(.object(["limit": .integer(10)]))?.message.hasSuffix("config.limit must be at most 9, got 10") == true)
        #expect(failure(.object(["limits": .integer(1)]))?.message.hasSuffix("did you mean \"limit\"?") == true)
        #expect(failure(.object(["limit": .integer(1)]), grants: [.kv])?.code == "plugin.native")
    }

    // MARK: - Functions

    @Test(arguments: ["push.tag.near", "push.send", "push.geo", "push.test.x", "push.Geo.x", "geo.x", "push.simulator.x", "push.log.x"])
    func `a function outside of a namespace of its own is refused`(name: String) {
        let binding = Binding(
            name, "",
            example: "", body: .prelude)
        let error = #expect(throws: PushError.self) { _ = try NativeExtensions(bindings: [binding], plugins: []) }
        #expect(error?.code == "native.name")
    }

    @Test func `duplicate functions or plugins, and names that no folder could have, are refused`() {
        let binding = Binding(
            "push.twice.x", "",
            example: "", body: .prelude)
        let type = Self.type([], name: "twice")
        for (bindings, plugins) in [([binding, binding], []), ([], [type, type]), ([], [Self.type([], name: "Not a name")])] {
            let error = #expect(throws: PushError.self) { _ = try NativeExtensions(bindings: bindings, plugins: plugins) }
            #expect(error?.code == "native.name")
        }
    }
}
