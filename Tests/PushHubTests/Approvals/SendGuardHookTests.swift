import PushHub
import PushModel
import Storage
import Support
import Testing

/// Approval of sends that a hook changes, before or after they were approved.
@Suite struct SendGuardHookTests {
    private let hooks = ScriptedHooks()
    private let bench: HubBench
    private let approvals = MemoryApprovalStore()
    private let trail = MemoryAuditTrail()
    private let sendGuard: SendGuard
    private var hub: NotificationHub { bench.hub }
    private static let approvalHub = Approval.Hub(number: 1, name: "hub")
    private static let ops = Principal.key("ops", hub: nil)

    init() throws {
        bench = try HubBench(hooks: hooks)
        sendGuard = SendGuard(
            store: approvals, audit: AuditLog(trail: trail, clock: bench.clock), clock: bench.clock, random: bench.random,
            limits: SendGuard.Limits(ceiling: 10))
    }

    private var hubs: ApprovalDecisions.Hubs { { [hub] in $0 == 1 ? hub : nil } }

    private func register(_ numbers: ClosedRange<Int>, tags: [String] = ["all"]) async throws {
        for number in numbers { try await bench.register(.phone(number), tags: tags) }
    }

    private func admission(key: String? = nil) -> SendAdmission? {
        sendGuard.admission(SendGuard.Sender(Self.ops, ceiling: nil, hub: Self.approvalHub, idempotencyKey: key))
    }

    @discardableResult
    private func accept(_ request: NotificationRequest, key: String? = nil) async throws -> AcceptedNotification {
        try await hub.accept(request, idempotencyKey: key, admission: admission(key: key))
    }

    private func widen(to audience: Audience = .everyone) {
        hooks.beforeSending { draft throws(PushError) in
            var wider = draft
            wider.request.audience = audience
            return wider
        }
    }

    private func words() async -> [String] {
        await trail.entries(after: 0, limit: 1000, AuditFilter()).map { "\($0.record.action) \($0.record.details["words"] ?? "")" }
    }

    private func sent() async throws -> Int { try await hub.notifications(before: nil, limit: 100).count }

    @Test func `A send that a hook makes larger needs approval`() async throws {
        try await register(1...1, tags: ["one"])
        try await register(2...12)
        #expect(try await accept(.alert(to: "one")).outcome.state == .enqueued)
        widen()
        let error = await refusal { try await accept(.alert(to: "one")) }
        #expect(error?.code == "approval.required" && error?.details["devices"] == 12)
        #expect(await refusal { try await hub.send(.alert(to: "one"), admission: admission()) }?.code == "approval.required")
        await bench.settle()
        #expect(try await sent() == 1)
    }

    @Test func `A send with content from a hook that reaches more devices needs approval`() async throws {
        for number in 1...12 {
            _ = try await hub.createRegistration(
                RegistrationDescription(
                    handle: .phone(number), tags: [try Tag("all")],
                    template: try RegistrationTemplate(body: #"{"aps": {"alert": "$(message)"}}"#, platform: .apns)))
        }
        hooks.beforeSending { draft throws(PushError) in
            var other = draft
            other.request.content = .template(["message": "x"])
            return other
        }
        // Without the hook the content matches no device.
        let error = await refusal { try await accept(.alert(to: "all")) }
        #expect(error?.code == "approval.required" && error?.details["devices"] == 12)
        #expect(await refusal { try await hub.send(.alert(to: "all"), admission: admission()) }?.code == "approval.required")
        #expect(try await sent() == 0)
        let waiting = try await sendGuard.decisions.approval("a-1")
        #expect(waiting.request?.content == .template(["message": "x"]))
    }

    @Test func `A send that a hook makes larger than approved is not sent, and waits again as the changed send`() async throws {
        try await register(1...12)
        try await register(13...30, tags: ["others"])
        #expect(await refusal { try await accept(.alert(to: "all")) }?.details["devices"] == 12)
        widen()
        let error = await refusal { try await sendGuard.decisions.approve("a-1", by: .owner, hubs) }
        #expect(error?.code == "approval.grown" && error?.status == 409 && error?.details["devices"] == 30)
        #expect(error?.message.hasPrefix("a plugin has changed a-1 to a send to 30 devices, everyone, and 12 were approved") == true)
        #expect(try await sent() == 0)
        let waiting = try await sendGuard.decisions.approval("a-1")
        #expect(waiting.state == .pending && waiting.decision == nil && waiting.reach.devices == 30 && waiting.scope.audience == "everyone")
        #expect(waiting.request?.audience == .everyone)
        #expect(
            await words().last
                == "approval.refuse a-1 was approved and not sent: a plugin has changed a-1 to a send to 30 devices, everyone, and 12 were approved"
        )
        // A second approval allows the changed send.
        #expect(try await sendGuard.decisions.approve("a-1", by: .owner, hubs).reach.devices == 30)
        await bench.settle()
        #expect(try await sent() == 1)
        #expect(await words().count { $0.hasPrefix("approval.approve") } == 2)
    }

    @Test func `A send that was approved and grew before the next start is not sent then`() async throws {
        try await register(1...12)
        #expect(await refusal { try await accept(.alert(to: "all")) }?.code == "approval.required")
        var approved = try await sendGuard.decisions.approval("a-1")
        approved.state = .approved
        approved.decision = Approval.Decision(principal: .owner, time: HubBench.startTime, reason: nil)
        #expect(await approvals.replace(approved, from: .pending))
        try await register(13...18)
        #expect(try await sendGuard.decisions.resume(hubs).first?.contains("has grown from 12 to 18 devices") == true)
        #expect(try await sent() == 0)
        #expect(try await sendGuard.decisions.approval("a-1").state == .pending)
        // The next approval is logged separately, even if the process ends before the entry is written.
        approved = try await sendGuard.decisions.approval("a-1")
        approved.state = .approved
        approved.decision = Approval.Decision(principal: .owner, time: HubBench.startTime + .seconds(5), reason: nil)
        #expect(await approvals.replace(approved, from: .pending))
        #expect(try await sendGuard.decisions.resume(hubs) == [])
        #expect(await words().count { $0.hasPrefix("approval.approve") } == 2)
        await bench.settle()
        #expect(try await sent() == 1)
    }

    @Test func `A send that a hook changes within the approval is sent, and the log describes the changed send`() async throws {
        try await register(1...12)
        try await register(13...14, tags: ["others"])
        #expect(await refusal { try await accept(.alert(to: "all")) }?.details["devices"] == 12)
        widen()
        let done = try await sendGuard.decisions.approve("a-1", by: .owner, hubs)
        #expect(done.state == .sent && done.reach.devices == 14 && done.scope.audience == "everyone")
        let id = try #require(done.notificationID)
        await bench.settle()
        #expect(try await hub.outcome(of: id).sent == 14)
        #expect(
            await words().last?.hasPrefix("approval.send a-1 was sent as \(id); changed by a plugin: 14 devices, everyone, ") == true)
    }

    @Test func `Repeating a send that a hook makes larger returns the same approval, later the notification`() async throws {
        try await register(1...1, tags: ["one"])
        try await register(2...12)
        widen()
        #expect(await refusal { try await accept(.alert(to: "one"), key: "k") }?.details["approval"] == "a-1")
        let again = await refusal { try await accept(.alert(to: "one"), key: "k") }
        #expect(again?.code == "approval.required" && again?.details["approval"] == "a-1")
        #expect(await refusal { try await accept(.alert("other", to: "one"), key: "k") }?.code == "hub.idempotency_key")
        // Also without a key.
        #expect(await refusal { try await accept(.alert(to: "one")) }?.details["approval"] == "a-1")
        let done = try await sendGuard.decisions.approve("a-1", by: .owner, hubs)
        let repeated = try await accept(.alert(to: "one"), key: "k")
        #expect(repeated.isRepeated && repeated.outcome.id == done.notificationID)
        await bench.settle()
        #expect(try await sent() == 1)
    }
}
