import PushHub
import PushModel
import Support
import Synchronization
import Testing

@Suite struct SendHookTests {
    private let hooks = ScriptedHooks()
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }

    init() throws { bench = try HubBench(hooks: hooks) }

    private static let later = HubBench.startTime + .seconds(3600)

    @Test func `a send that a hook rejects is not accepted, and returns the hook's error`() async throws {
        try await bench.register(.phone(1))
        hooks.beforeSending { _ throws(PushError) in throw .veto }
        hooks.listen()
        let attempts: [() async throws -> Void] = [
            { _ = try await hub.accept(.alert()) }, { _ = try await hub.send(.alert()) },
            { _ = try await hub.schedule(.alert(), at: Self.later) },
        ]
        for attempt in attempts { #expect(await refusal { try await attempt() } == .veto) }
        await bench.settle()
        #expect(bench.connector.batches.isEmpty && hooks.sent.isEmpty && hooks.ended.isEmpty)
        #expect(try await hub.notifications(before: nil, limit: 10).isEmpty)
    }

    @Test func `a hook sees a valid send, and its changes are sent if they are valid`() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.phone(2), tags: ["b"])
        let tag = try Tag("b")
        hooks.beforeSending { draft in
            var draft = draft
            draft.request.audience = .expression(.tag(tag))
            return draft
        }
        let empty = NotificationRequest(audience: .everyone, content: .native([:]))
        #expect(await refusal { try await hub.accept(empty) }?.code == "payload.empty")
        #expect(hooks.drafts.isEmpty)
        #expect(try await hub.send(.alert(to: "a")).devices.map(\.handle) == [.phone(2)])
        let id = try await hub.accept(.alert(to: "a")).outcome.id
        #expect(try await hub.finish(id).tags == "b")
        hooks.beforeSending { draft in
            var draft = draft
            draft.request.content = .native([:])
            return draft
        }
        #expect(await refusal { try await hub.accept(.alert()) }?.code == "payload.empty")
        #expect(await refusal { try await hub.send(.alert()) }?.code == "payload.empty")
        #expect(try await hub.notifications(before: nil, limit: 10).count == 2)
    }

    @Test(arguments: [false, true]) func `a send scheduled by a hook waits for its time, without further hooks`(isSent: Bool) async throws {
        try await bench.register(.phone(1))
        hooks.beforeSending { draft in
            var draft = draft
            draft.dueTime = Self.later
            return draft
        }
        let outcome = isSent ? try await hub.send(.alert()) : try await hub.accept(.alert()).outcome
        #expect(outcome.state == .scheduled && outcome.scheduledFor == Self.later && bench.connector.batches.isEmpty)
        #expect(try await hub.outcome(of: outcome.id).state == .scheduled)
        await bench.settle()
        #expect(bench.connector.deliveries.map(\.time) == [Self.later] && hooks.drafts.count == 1)
        #expect(try await hub.outcome(of: outcome.id).state == .completed)
    }

    @Test func `a hook cannot schedule a test send, whose sender waits for the verdicts`() async throws {
        try await bench.register(.phone(1))
        hooks.beforeSending { draft in
            var draft = draft
            draft.dueTime = Self.later
            return draft
        }
        var request = try NotificationRequest.alert()
        request.isTest = true
        let outcome = try await hub.send(request)
        #expect(outcome.state == .detailedStateAvailable)
        #expect(outcome.scheduledFor == nil)
        #expect(bench.connector.deliveries.map(\.time) == [HubBench.startTime])
    }

    @Test func `a hook cannot schedule a send more than seven days ahead`() async throws {
        hooks.beforeSending { draft in
            var draft = draft
            draft.dueTime = HubBench.startTime + .seconds(7 * 86_400) + .milliseconds(1)
            return draft
        }
        #expect(await refusal { try await hub.accept(.alert()) }?.code == "time.too_far")
        #expect(await refusal { try await hub.send(.alert()) }?.code == "time.too_far")
    }

    @Test func `a key stands for the original request, and a repeated one returns the first result without a hook`() async throws {
        hooks.beforeSending { draft in
            var draft = draft
            draft.dueTime = Self.later
            draft.request.options.collapseID = "changed"
            return draft
        }
        hooks.listen()
        let first = try await hub.accept(.alert(), idempotencyKey: "k")
        hooks.beforeSending { _ throws(PushError) in throw .veto }
        let second = try await hub.accept(.alert(), idempotencyKey: "k")
        #expect(second.isRepeated && second.outcome.id == first.outcome.id)
        #expect(await refusal { try await hub.accept(.alert("other"), idempotencyKey: "k") }?.status == 422)
        #expect(await refusal { try await hub.accept(.alert(), idempotencyKey: "l") } == .veto)
        #expect(hooks.drafts.count == 2)
        await bench.settle()
        #expect(hooks.sent.map(\.id) == [first.outcome.id])
    }

    @Test func `the hook for sends gets the accepted send, and in a rehearsal gets it before delivery`() async throws {
        try await bench.register(.phone(1))
        hooks.listen()
        let heard = Mutex<[Int]>([])
        bench.connector.during { [hooks] _ in heard.withLock { $0.append(hooks.sent.count) } }
        let outcome = try await hub.send(.alert())
        #expect(heard.withLock { $0 } == [1])
        // The hook gets the end before the caller gets the result.
        #expect(hooks.ended.map(\.outcome.id) == [outcome.id])
        let accepted = try await hub.accept(.alert(), at: Self.later)
        await bench.settle()
        #expect(hooks.sent.map(\.id) == [outcome.id, accepted.outcome.id])
        #expect(hooks.sent.map(\.draft.dueTime) == [nil, Self.later])
    }

    // MARK: - End of a notification

    @Test func `each end is reported once, without the devices`() async throws {
        try await bench.register(.phone(1))
        hooks.listen()
        let sent = try await hub.send(.alert()).id
        let accepted = try await hub.accept(.alert()).outcome.id
        await bench.settle()
        let nobody = try await hub.accept(.alert(to: "nobody")).outcome.id
        await bench.settle()
        let scheduled = try await hub.schedule(.alert(), at: Self.later).id
        try await hub.cancel(notification: scheduled)
        await bench.settle()
        #expect(hooks.ended.map(\.outcome.id) == [sent, accepted, nobody, scheduled])
        #expect(hooks.ended.map(\.outcome.state) == [.completed, .completed, .noTargetFound, .canceled])
        #expect(hooks.ended.allSatisfy { $0.outcome.devices.isEmpty && $0.hub == "hub" })
        #expect(hooks.ended[0].outcome.counts == [.apns: [.success: 1]])
    }

    @Test func `an end that is not stored is not reported`() async throws {
        try await bench.register(.phone(1))
        hooks.listen()
        bench.store.refuse([.record])
        let id = try await hub.accept(.alert()).outcome.id
        try await until { try await hub.outcome(of: id).state == .completed }
        try await bench.untilSomebodySleeps()
        #expect(hooks.ended.isEmpty)
        await hub.stop()
        await bench.settle()
        #expect(hooks.ended.isEmpty)
    }

    @Test func `an end that is stored late is reported then`() async throws {
        try await bench.register(.phone(1))
        hooks.listen()
        bench.store.refuse([.record])
        _ = try await hub.send(.alert())
        #expect(hooks.ended.isEmpty)
        bench.store.refuse([])
        await bench.settle()
        #expect(hooks.ended.count == 1)
    }

    // MARK: - Origin

    @Test func `the origin of a notification is known until its end`() async throws {
        try await bench.register(.phone(1))
        hooks.listen()
        hooks.beforeSending { $0 }
        hooks.beforeDelivering { _ in }
        try await HookOrigin.$plugins.withValue(["digest"]) {
            _ = try await hub.accept(.alert("first"), at: Self.later)
            _ = try await hub.send(.alert("second"))
        }
        _ = try await hub.accept(.alert("third"))
        await bench.settle()
        #expect(hooks.drafts.map(\.origin) == [["digest"], ["digest"], []])
        #expect(hooks.groups.map(\.origin) == [["digest"], [], ["digest"]])
        #expect(hooks.ended.map(\.origin) == [["digest"], [], ["digest"]])
        #expect(Set(hooks.sent.map(\.draft.origin)) == [["digest"], []])
    }

    @Test func `work that outlives a plugin's call does not have that plugin as its origin`() async throws {
        try await bench.register(.phone(1))
        // The alarm set during the plugin's call also starts the other send.
        hooks.listen()
        try await HookOrigin.$plugins.withValue(["digest"]) { _ = try await hub.accept(.alert("first"), at: Self.later) }
        _ = try await hub.accept(.alert("second"), at: Self.later)
        await bench.settle()
        #expect(hooks.ended.count == 2 && hooks.origins == Array(repeating: [], count: 4))
    }
}
