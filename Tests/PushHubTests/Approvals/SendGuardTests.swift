import PushHub
import PushModel
import Storage
import Support
import Synchronization
import Testing

private struct FullTrail: AuditTrail {
    func append(_ record: AuditRecord) throws(PushError) -> AuditEntry {
        throw PushError("storage.unavailable", "the disk is full", status: 503, isRetryable: true)
    }
    func entries(after sequence: Int64, limit: Int, _ filter: AuditFilter) -> [AuditEntry] { [] }
    func entries(before sequence: Int64?, limit: Int, _ filter: AuditFilter) -> [AuditEntry] { [] }
    func verify() -> AuditVerification { .intact(.start) }
}

/// Sends that reach more devices than their sender may reach without approval.
@Suite struct SendGuardTests {
    private let bench: HubBench
    private let approvals = MemoryApprovalStore()
    private let trail = MemoryAuditTrail()
    private let sendGuard: SendGuard
    private var hub: NotificationHub { bench.hub }
    private static let approvalHub = Approval.Hub(number: 1, name: "hub")
    private static let ops = Principal.key("ops", hub: nil)
    private static let nightly = SendGuard.Sender(.flow("nightly"), ceiling: 3, hub: approvalHub)

    init() throws {
        bench = try HubBench()
        sendGuard = SendGuard(
            store: approvals, audit: AuditLog(trail: trail, clock: bench.clock), clock: bench.clock, random: bench.random,
            limits: SendGuard.Limits(ceiling: 10))
    }

    private var hubs: ApprovalDecisions.Hubs { { [hub] in $0 == 1 ? hub : nil } }

    private func register(_ numbers: ClosedRange<Int>, tags: [String] = ["all"]) async throws {
        for number in numbers { try await bench.register(.phone(number), tags: tags) }
    }

    /// Sends as a principal and returns the id of the notification.
    @discardableResult
    private func send(
        _ request: NotificationRequest, as principal: Principal = ops, ceiling: Int? = nil, key: String? = nil, note: String? = nil,
        at dueTime: Timestamp? = nil
    ) async throws -> String {
        let sender = SendGuard.Sender(principal, ceiling: ceiling, hub: Self.approvalHub, idempotencyKey: key, note: note)
        return try await hub.accept(request, at: dueTime, idempotencyKey: key, admission: sendGuard.admission(sender)).outcome.id
    }

    private func words() async -> [String] {
        await trail.entries(after: 0, limit: 1000, AuditFilter()).map { "\($0.record.action) \($0.record.details["words"] ?? "")" }
    }

    private func sent() async throws -> Int { try await hub.notifications(before: nil, limit: 100).count }

    @Test func `A send above the ceiling waits until another principal approves it, and is then sent once`() async throws {
        try await register(1...12)
        let error = await refusal { try await send(.alert("Outage", to: "all"), note: "outage notice") }
        #expect(error?.code == "approval.required" && error?.status == 403)
        #expect(error?.message == "sending to 12 devices needs approval (limit 10); not sent, request a-1 is pending")
        #expect(error?.details == ["approval": "a-1", "devices": 12, "ceiling": 10])
        #expect(try await sent() == 0)
        let waiting = try await sendGuard.decisions.approval("a-1")
        #expect(waiting.state == .pending && waiting.scope.audience == "tags all" && waiting.reach.platforms == [.apns: 12])
        #expect(waiting.expiresAt == HubBench.startTime + .seconds(86_400))

        let own = await refusal { try await sendGuard.decisions.approve("a-1", by: Self.ops, hubs) }
        #expect(own?.code == "approval.own" && own?.status == 403)
        let approved = try await sendGuard.decisions.approve("a-1", by: .owner, reason: "checked", hubs)
        #expect(approved.state == .sent && approved.request == nil)
        let id = try #require(approved.notificationID)
        await bench.settle()
        #expect(try await hub.outcome(of: id).sent == 12)
        let again = await refusal { try await sendGuard.decisions.approve("a-1", by: .key("other", hub: nil), hubs) }
        #expect(again?.code == "approval.decided" && again?.status == 409)
        #expect(again?.message.contains("it was approved by owner") == true && again?.message.contains(id) == true)
        #expect(try await sent() == 1)
        #expect(
            await words() == [
                "approval.request 12 devices · tags all · requested by key:ops · note \"outage notice\" · more than the "
                    + "server's limit of 10",
                "approval.refuse key:ops requested a-1 and cannot approve it",
                "approval.approve approved by owner · 12 devices · tags all · requested by key:ops · note \"outage notice\" · reason \"checked\"",
                "approval.send a-1 was sent as \(id)",
            ])
    }

    @Test func `A send within the ceiling needs no approval, whatever its kind`() async throws {
        try await register(1...12)
        try await register(13...22, tags: ["few"])
        try await send(.alert(to: "few"))
        try await send(.alert(to: "few && all"))
        // The content is for template registrations, and there are none.
        try await send(.properties(["message": "x"], to: "all || few"))
        func direct(_ count: Int) -> NotificationRequest {
            NotificationRequest(
                audience: .devices((1...count).map { DeviceHandle.phone($0) }),
                content: .native(AlertPayloads.system(title: nil, text: "x")))
        }
        try await send(direct(10))
        #expect(await refusal { try await send(direct(11)) }?.code == "approval.required")
        // A test send reaches at most ten devices.
        var test = try NotificationRequest.alert(to: "all")
        test.isTest = true
        try await send(test)
        #expect(await refusal { try await send(test, ceiling: 9) }?.details["devices"] == 10)
        await bench.settle()
        #expect(try await sent() == 5)
    }

    @Test func `A scheduled send is counted again at its due time`() async throws {
        let dueTime = HubBench.startTime + .seconds(3600)
        try await register(1...9)
        let (few, allowed) = (try await send(.alert(to: "all"), at: dueTime), try await send(.alert(to: "all || none"), at: dueTime))
        try await register(10...12)
        let asked = await refusal { try await send(.alert(to: "all && !none"), at: dueTime) }
        #expect(asked?.code == "approval.required")
        let approved = try #require(try await sendGuard.decisions.approve("a-1", by: .owner, hubs).notificationID)
        try await hub.cancel(notification: allowed)
        // A send is compared with the ceiling of the time when it was scheduled.
        sendGuard.change(SendGuard.Limits(ceiling: 1))
        bench.advance(by: .seconds(3600))
        await bench.settle()
        let outcome = try await hub.outcome(of: few)
        #expect(outcome.state == .abandoned && outcome.endedAt == dueTime && outcome.devices.isEmpty && outcome.counts.isEmpty)
        let notice = "not sent: 12 devices at the due time, more than the server's limit of 10"
        #expect(outcome.notices.map(\.text) == [notice])
        #expect(try await hub.trace(TraceQuestion(notification: few)).nearMisses.first == notice)
        #expect(try await hub.outcome(of: approved).sent == 12)
        #expect(try await hub.outcome(of: allowed).state == .canceled)
    }

    @Test func `The approval of a scheduled send allows a tenth more devices`() async throws {
        let dueTime = HubBench.startTime + .seconds(3600)
        try await register(1...12)
        var sent: [String] = []
        for (number, tags) in ["all", "all && !late"].enumerated() {
            #expect(await refusal { try await send(.alert(to: tags), at: dueTime) }?.code == "approval.required")
            sent.append(try #require(try await sendGuard.decisions.approve("a-\(number + 1)", by: .owner, hubs).notificationID))
        }
        try await register(13...17)
        try await register(18...18, tags: ["all", "late"])
        bench.advance(by: .seconds(3600))
        await bench.settle()
        #expect(
            try await hub.outcome(of: sent[0]).notices.first?.text
                == "not sent: 18 devices at the due time, more than the 17 approved by a-1")
        #expect(try await hub.outcome(of: sent[1]).sent == 17)
    }

    @Test func `The lowest ceiling that applies is used, and there is none by default`() async throws {
        try await register(1...12)
        #expect(
            await refusal { try await send(.alert("1", to: "all"), ceiling: 5) }?.message.contains("(limit 5 for key:ops)") == true)
        #expect(await refusal { try await send(.alert("2", to: "all"), ceiling: 50) }?.message.contains("(limit 10)") == true)
        sendGuard.change(SendGuard.Limits(ceiling: nil))
        try await send(.alert(to: "all"), ceiling: 12)
        #expect(sendGuard.admission(SendGuard.Sender(Self.ops, ceiling: nil, hub: Self.approvalHub)) == nil)
        #expect(await refusal { try await send(.alert("3", to: "all"), ceiling: 11) }?.details["ceiling"] == 11)
        await bench.settle()
    }

    @Test func `Repeating a request returns the same approval, and the notification once it is sent`() async throws {
        try await register(1...12)
        func ask(_ text: String, as principal: Principal = Self.ops, key: String? = nil) async -> JSON? {
            await refusal { try await send(.alert(text, to: "all"), as: principal, key: key) }?.details["approval"]
        }
        #expect(await ask("x", key: "k") == "a-1")
        #expect(await ask("x", key: "k") == "a-1")
        #expect(await ask("x") == "a-1")
        #expect(await ask("y") == "a-2")
        #expect(await ask("x", as: .flow("nightly")) == "a-3")
        let reused = await refusal { try await send(.alert("z", to: "all"), key: "k") }
        #expect(reused?.code == "hub.idempotency_key" && reused?.status == 422)
        let approved = try await sendGuard.decisions.approve("a-1", by: .owner, hubs)
        #expect(try await send(.alert("x", to: "all"), key: "k") == approved.notificationID)
        // Without the key it is a different request.
        #expect(await ask("x") == "a-4")
        _ = try await sendGuard.decisions.deny("a-2", by: .owner, reason: "too loud")
        #expect(await ask("y", key: "l") == "a-5")
        _ = try await sendGuard.decisions.deny("A-5", by: .owner, reason: "too loud")
        let denied = await refusal { try await send(.alert("y", to: "all"), key: "l") }
        #expect(denied?.code == "approval.denied" && denied?.message == "a-5 was denied by owner: too loud")
        await bench.settle()
        #expect(try await sent() == 1)
        #expect(await approvals.approval(5)?.request == nil)
    }

    @Test func `Repeating a send under its key needs no approval, even if its audience has grown`() async throws {
        try await register(1...10)
        let first = try await send(.alert("x", to: "all"), key: "k")
        try await register(11...15)
        #expect(try await send(.alert("x", to: "all"), key: "k") == first)
        #expect(await refusal { try await send(.alert("y", to: "all"), key: "l") }?.code == "approval.required")
        await bench.settle()
    }

    @Test func `An approved send whose audience has grown too much needs another approval`() async throws {
        try await register(1...12)
        #expect(await refusal { try await send(.alert(to: "all")) }?.code == "approval.required")
        try await register(13...18)
        let grown = await refusal { try await sendGuard.decisions.approve("a-1", by: .owner, hubs) }
        #expect(grown?.code == "approval.grown" && grown?.status == 409)
        #expect(grown?.message.contains("from 12 to 18 devices") == true)
        #expect(try await sent() == 0)
        #expect(try await sendGuard.decisions.approval("a-1").reach.devices == 18)
        try await register(19...20)
        #expect(try await sendGuard.decisions.approve("a-1", by: .owner, hubs).state == .sent)
        await bench.settle()
        #expect(await words().contains("approval.refuse a-1 was not approved: its audience has grown from 12 to 18 devices"))
    }

    @Test func `A request that is not decided expires, and can be made again`() async throws {
        try await register(1...12)
        #expect(await refusal { try await send(.alert(to: "all"), key: "k") }?.details["approval"] == "a-1")
        bench.advance(by: .seconds(86_399))
        #expect(try await sendGuard.decisions.approvals(before: nil, limit: 9, state: .pending).count == 1)
        bench.advance(by: .seconds(1))
        let late = await refusal { try await sendGuard.decisions.approve("a-1", by: .owner, hubs) }
        #expect(late?.code == "approval.decided" && late?.message.contains("it has expired") == true)
        let expired = try #require(await approvals.approval(1))
        #expect(expired.state == .expired && expired.request == nil)
        #expect(await refusal { try await send(.alert(to: "all"), key: "k") }?.details["approval"] == "a-2")
        try await sendGuard.decisions.expire()
        #expect(await words().count { $0.hasPrefix("approval.expire") } == 1)
    }

    @Test func `An approved scheduled send goes out at its due time`() async throws {
        try await register(1...12)
        let dueTime = HubBench.startTime + .seconds(7200)
        #expect(await refusal { try await send(.alert(to: "all"), at: dueTime) }?.code == "approval.required")
        let approved = try await sendGuard.decisions.approve("a-1", by: .owner, hubs)
        let id = try #require(approved.notificationID)
        #expect(try await hub.outcome(of: id).state == .scheduled)
        try await hub.cancel(notification: id)
        await bench.settle()
    }

    @Test func `Two simultaneous approvals send once`() async throws {
        try await register(1...12)
        #expect(await refusal { try await send(.alert(to: "all")) }?.code == "approval.required")
        let codes = await withTaskGroup { group in
            for number in 0..<8 {
                group.addTask { [sendGuard, hubs] in
                    await refusal { try await sendGuard.decisions.approve("a-1", by: .key("k\(number)", hub: nil), hubs) }?.code
                }
            }
            return await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1 && codes.count { $0 == "approval.decided" } == 7)
        await bench.settle()
        #expect(try await sent() == 1)
        #expect(await words().count { $0.hasPrefix("approval.approve") } == 1)
    }

    @Test func `A crash between approval and send sends once at the next start`() async throws {
        try await register(1...12)
        #expect(await refusal { try await send(.alert(to: "all")) }?.code == "approval.required")
        // The states stored just before and just after the hub has accepted the send.
        var approved = try await sendGuard.decisions.approval("a-1")
        approved.state = .approved
        approved.decision = Approval.Decision(principal: .owner, time: HubBench.startTime, reason: nil)
        #expect(await approvals.replace(approved, from: .pending))
        let unwritten = SendGuard(
            store: approvals, audit: AuditLog(trail: FullTrail(), clock: bench.clock), clock: bench.clock, random: bench.random)
        #expect(try await unwritten.decisions.resume(hubs).count == 1)
        #expect(try await sent() == 0)
        #expect(try await sendGuard.decisions.resume(hubs) == [])
        let first = try #require(await approvals.approval(1)?.notificationID)
        #expect(await approvals.replace(approved, from: .sent))
        #expect(try await sendGuard.decisions.resume(hubs) == [])
        #expect(await approvals.approval(1)?.notificationID == first)
        await bench.settle()
        #expect(try await sent() == 1)
        // The approval is logged once, before the send.
        let words = await words().filter { !$0.hasPrefix("approval.request") }
        #expect(words.count == 3 && words.first == "approval.approve approved by owner · 12 devices · tags all · requested by key:ops")
        #expect(words.dropFirst().allSatisfy { $0 == "approval.send a-1 was sent as \(first)" })
    }

    @Test func `A send that the hub cannot accept now is retried, and one that it rejects has failed`() async throws {
        try await register(1...12)
        #expect(await refusal { try await send(.alert(to: "all")) }?.code == "approval.required")
        bench.store.refuse([.accept])
        let full = await refusal { try await sendGuard.decisions.approve("a-1", by: .owner, hubs) }
        #expect(full?.isRetryable == true)
        #expect(try await sendGuard.decisions.approval("a-1").state == .approved)
        #expect(try await sendGuard.decisions.resume(hubs).count == 1)
        bench.store.refuse([])
        #expect(try await sendGuard.decisions.resume(hubs) == [])
        #expect(try await sendGuard.decisions.approval("a-1").state == .sent)
        #expect(await words().count { $0.hasPrefix("approval.approve") } == 1)
        await bench.settle()
        #expect(try await sent() == 1)
        #expect(
            await refusal { try await send(.alert("later", to: "all"), at: HubBench.startTime + .seconds(600)) }?.code
                == "approval.required")
        #expect(await refusal { try await sendGuard.decisions.approve("a-2", by: .owner, { _ in nil }) }?.code == "hub.not_found")
    }

    @Test func `An approval that cannot be logged is not given`() async throws {
        try await register(1...12)
        #expect(await refusal { try await send(.alert(to: "all")) }?.code == "approval.required")
        let unwritten = SendGuard(
            store: approvals, audit: AuditLog(trail: FullTrail(), clock: bench.clock), clock: bench.clock, random: bench.random)
        #expect(await refusal { try await unwritten.decisions.approve("a-1", by: .owner, hubs) }?.code == "storage.unavailable")
        #expect(try await sent() == 0)
        #expect(try await sendGuard.decisions.approval("a-1").state == .pending)
        #expect(try await sendGuard.decisions.approve("a-1", by: .owner, hubs).state == .sent)
        await bench.settle()
    }

    @Test func `The requester can withdraw a request`() async throws {
        try await register(1...12)
        #expect(await refusal { try await send(.alert(to: "all")) }?.code == "approval.required")
        #expect(try await sendGuard.decisions.deny("a-1", by: Self.ops).state == .denied)
        #expect(await refusal { try await sendGuard.decisions.approve("a-1", by: .owner, hubs) }?.code == "approval.decided")
        #expect(try await sent() == 0)
    }

    @Test func `An unknown id is rejected with the nearest one`() async throws {
        try await register(1...12)
        #expect(await refusal { try await send(.alert(to: "all")) }?.code == "approval.required")
        let error = await refusal { try await sendGuard.decisions.approval("b-1") }
        #expect(error?.code == "approval.not_found" && error?.hint == "did you mean \"a-1\"?")
        #expect(await refusal { try await sendGuard.decisions.approval("a-77") }?.code == "approval.not_found")
    }

    @Test func `A send of a flow needs approval, too`() async throws {
        try await register(1...12)
        let flow = LimitedHub(hub, sendGuard.admission(Self.nightly), waitsForResults: true)
        let error = await refusal { try await flow.send(.alert(to: "all")) }
        #expect(error?.code == "approval.required" && error?.message.contains("(limit 3 for flow:nightly)") == true)
        #expect(
            await refusal { try await flow.schedule(.alert(to: "all"), at: HubBench.startTime + .seconds(60)) }?.details["approval"]
                == "a-2")
        let few = try await flow.send(
            NotificationRequest(audience: .device(.phone(1)), content: .native(AlertPayloads.system(title: nil, text: "x"))))
        #expect(few.sent == 1)
    }

    @Test func `A send that returns before delivery needs approval, however it is made`() async throws {
        try await register(1...12)
        let accepting = LimitedHub(hub, sendGuard.admission(Self.nightly), waitsForResults: false)
        let request = try NotificationRequest.alert(to: "all")
        let plan = try #require(try await accepting.plan(PlanRequest(audience: request.audience, content: request.content)).id)
        #expect(await refusal { try await accepting.send(request) }?.code == "approval.required")
        #expect(await refusal { try await accepting.schedule(request, at: HubBench.startTime + .seconds(60)) }?.code == "approval.required")
        #expect(await refusal { try await accepting.send(PlannedSend(PlanBinding(plan))) }?.code == "approval.required")
        #expect(try await sent() == 0)
    }

    @Test func `The principal that started a flow cannot approve its sends`() async throws {
        try await register(1...12)
        var sender = Self.nightly
        sender.behalf = Self.ops
        let flow = LimitedHub(hub, sendGuard.admission(sender), waitsForResults: true)
        #expect(await refusal { try await flow.send(.alert(to: "all")) }?.code == "approval.required")
        #expect(try await sendGuard.decisions.approval("a-1").words.contains("requested by flow:nightly, which key:ops started"))
        #expect(await refusal { try await sendGuard.decisions.approve("a-1", by: Self.ops, hubs) }?.code == "approval.own")
        #expect(try await sent() == 0)
        #expect(try await sendGuard.decisions.approve("a-1", by: .owner, hubs).state == .sent)
    }

    @Test func `A send to a broadcast channel needs approval, because its number of devices is unknown`() async throws {
        let handle = try #require(DeviceHandle.apns(channel: "AAECAwQFBgcICQoLDA0ODw=="))
        var content = AlertPayloads.system(title: nil, text: "x")
        content[.apns]?.headers.append(PushHeader("Apns-Channel-Id", "AAECAwQFBgcICQoLDA0ODw=="))
        let request = NotificationRequest(audience: .device(handle), content: .native(content))
        let error = await refusal { try await send(request) }
        #expect(error?.code == "approval.required" && error?.details["devices"] == nil)
        #expect(error?.message.contains("a broadcast channel, with an unknown number of devices, needs approval (limit 10)") == true)
        #expect(await words().first?.hasPrefix("approval.request an unknown number of devices · ") == true)
        #expect(await words().first?.hasSuffix(" · maybe more than the server's limit of 10") == true)
        #expect(try await sendGuard.decisions.approve("a-1", by: .owner, hubs).state == .sent)
        await bench.settle()
        #expect(try await sent() == 1)
    }

    @Test func `Pending requests are limited per requester and in total, and repeating one is always possible`() async throws {
        try await register(1...12)
        func ask(_ number: Int, as principal: Principal = Self.ops) async -> PushError? {
            await refusal { try await send(.alert("\(number)", to: "all"), as: principal) }
        }
        for number in 1...50 { #expect(await ask(number)?.details["approval"] == .string("a-\(number)")) }
        let over = await ask(51)
        #expect(over?.code == "approval.too_many" && over?.status == 429 && over?.message.hasPrefix("50 requests of key:ops") == true)
        #expect(await ask(1)?.details["approval"] == "a-1")
        for other in 1...3 {
            for number in 1...50 { #expect(await ask(number, as: .flow("f\(other)"))?.code == "approval.required") }
        }
        #expect(await ask(1, as: .owner)?.message.hasPrefix("200 requests are pending") == true)
        #expect(await ask(50)?.details["approval"] == "a-50")
        _ = try await sendGuard.decisions.deny("a-7", by: .owner)
        #expect(await ask(51)?.details["approval"] == "a-201")
    }
}
