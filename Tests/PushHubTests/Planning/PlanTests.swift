import Support
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct PlanTests {
    private let hooks = ScriptedHooks()
    private let bench: HubBench
    private var hub: NotificationHub { bench.hub }

    init() throws { bench = try HubBench(hooks: hooks) }

    private func alert(_ expression: String?, _ text: String = "Hello") throws -> PlanRequest {
        let request = try NotificationRequest.alert(text, to: expression)
        return PlanRequest(audience: request.audience, content: request.content)
    }

    private static let news = #"{"aps":{"alert":"$(News_en)"}}"#
    private static let noticias = #"{"aps":{"alert":"$(News_pt_BR)"}}"#

    @Test func `A plan sends nothing, calls no hook, and changes nothing but the stored plans`() async throws {
        try await bench.register(.phone(1), tags: ["Sports"])
        hooks.beforeSending { _ throws(PushError) in throw .veto }
        let plan = try await hub.plan(try alert("Sports"), by: "ops")
        #expect(plan.total == 1 && plan.id == "p-0001" && plan.plannedBy == "ops")
        #expect(plan.expiresAt == HubBench.startTime + .seconds(7 * 86_400))
        #expect(bench.connector.batches.isEmpty && hooks.drafts.isEmpty)
        #expect(try await hub.notifications(before: nil, limit: 10).isEmpty)
        #expect(try await hub.plan("p-0001") == plan)
    }

    @Test func `A plan that is not stored has no id`() async throws {
        try await bench.register(.phone(1))
        var request = try alert(nil)
        request.isStored = false
        #expect(try await hub.plan(request).id == nil)
        #expect(try await hub.plans(before: nil, limit: 10).isEmpty)
    }

    @Test func `A plan counts by platform, tag, locale and template, with the bytes of each`() async throws {
        try await bench.register(.phone(1), tags: ["Sports", "locale:pt-BR"], template: Self.news)
        try await bench.register(.phone(2), tags: ["Sports", "username:ana"], template: Self.noticias)
        try await bench.register(.phone(3), tags: ["Sports", "vip"], template: Self.noticias, pushVariables: ["Locale": "fr_FR"])
        try await bench.register(.fcmV1(token: "fcm:1"), tags: ["sports"], template: #"{"message":{"data":{"a":"$(News_en)"}}}"#)
        let content = NotificationContent.template(["News_en": "Hi", "News_pt_BR": "Olá"])
        let plan = try await hub.plan(PlanRequest(audience: .expression(try TagExpression(parsing: "Sports")), content: content))
        #expect(plan.matched == 4 && plan.total == 4 && plan.platforms == [.apns: 3, .fcmV1: 1])
        #expect(plan.tags.map(\.name) == ["Sports", "locale:pt-BR", "vip"] && plan.tags.map(\.devices) == [4, 1, 1])
        #expect(Set(plan.locales.map(\.name)) == ["pt-BR", "fr-FR", "en"])
        #expect(plan.locales.first { $0.name == "pt-BR" }?.devices == 2)
        #expect(plan.groups.map(\.bytes) == [22, 24, 31] && plan.groups.map(\.devices) == [1, 2, 1])
        #expect(plan.groups.map(\.limit) == [4096, 4096, 4096])
        #expect(plan.templates.map(\.devices) == [3, 1])
    }

    @Test func `Content that is too large is reported, with sizes`() async throws {
        try await bench.register(.phone(1), tags: ["a"], template: #"{"aps":{"alert":"$(text)"}}"#)
        let text = String(repeating: "x", count: 5000)
        let plan = try await hub.plan(PlanRequest(audience: .everyone, content: .template(["text": text])))
        let group = try #require(plan.groups.first)
        #expect(group.isTooLarge && group.bytes == 5020 && group.limit == 4096 && plan.refused == 1)
        #expect(group.refusal?.outcome == .invalidNotificationSize)
    }

    @Test func `Template properties without a value are reported`() async throws {
        try await bench.register(.phone(1), tags: ["a"], template: #"{"aps":{"alert":"$(text)"}}"#)
        try await bench.register(.phone(2), tags: ["b"], template: #"{"aps":{"alert":{"title":"$(title)","body":"$(who)"}}}"#)
        try await bench.register(
            .phone(3), tags: ["c"], template: #"{"aps":{"alert":"$(text)"}}"#, pushVariables: ["text": "its own"])
        let plan = try await hub.plan(PlanRequest(audience: .everyone, content: .template(["who": "Ana"])))
        let found = Dictionary(plan.groups.map { ($0.payload, $0) }) { first, _ in first }
        let empty = try #require(found[#"{"aps":{"alert":""}}"#])
        #expect(empty.missing == ["text"] && empty.isTextless && empty.devices == 1)
        let half = try #require(found[#"{"aps":{"alert":{"title":"","body":"Ana"}}}"#])
        #expect(half.missing == ["title"] && !half.isTextless)
        let own = try #require(found[#"{"aps":{"alert":"its own"}}"#])
        #expect(own.missing.isEmpty && !own.isTextless)
        #expect(try await hub.plan("p-0001") == plan)
    }

    @Test func `A plan lists the notifications it was sent as, and a send without devices says why`() async throws {
        try await bench.register(.phone(1), tags: ["Sports"])
        let plan = try await hub.plan(try alert("Sports"))
        #expect(try await hub.plan("p-0001").sentAs.isEmpty)
        let sends = [
            try await hub.send(PlannedSend(PlanBinding(try #require(plan.id)))), try await hub.send(PlannedSend(PlanBinding("p-0001"))),
        ]
        #expect(try await hub.plan("p-0001").sentAs == sends.map(\.id))
        _ = try await hub.plan(try alert("Sprots"))
        let nobody = try await hub.send(PlannedSend(PlanBinding("p-0002")))
        #expect(nobody.nearMisses == ["the plan p-0002 has no devices", "\"Sports\" has 1 registration"])
        let golfer = try await bench.register(.phone(2), tags: ["Golf"])
        _ = try await hub.plan(try alert("Golf"))
        try await hub.deleteRegistration(golfer.id, ifMatch: nil)
        let gone = try await hub.send(PlannedSend(PlanBinding("p-0003", tolerance: .devices(1))))
        #expect(gone.nearMisses == ["no device of plan p-0003 is still registered"])
    }

    @Test func `The part of an expression that excludes all devices is reported`() async throws {
        for number in 1...4 { try await bench.register(.phone(number), tags: ["Sports", number > 1 ? "muted" : "loud"]) }
        let plan = try await hub.plan(try alert("Sports && loud && muted && !vip"))
        #expect(plan.total == 0)
        #expect(plan.failedTerms.map(\.term) == ["loud", "muted"])
        #expect(plan.failedTerms.map(\.matches) == [1, 3] && plan.failedTerms.map(\.without) == [3, 1])
        let typo = try await hub.plan(try alert("Sprots"))
        #expect(typo.nearMisses == ["\"Sports\" has 4 registrations"] && typo.failedTerms.map(\.matches) == [0])
        let nested = try await hub.plan(try alert("Sports && (tennis || golf)"))
        #expect(nested.failedTerms.map(\.term) == ["tennis || golf", "tennis", "golf"])
        #expect(nested.failedTerms[0].without == 4)
    }

    @Test func `Only plans of the same audience and kind are compared`() async throws {
        try await bench.register(.phone(1), tags: ["Sports"])
        _ = try await hub.plan(try alert("Sports"))
        #expect(try await hub.plan(PlanRequest(audience: .expression(.tag(try Tag("Sports"))))).difference == nil)
        #expect(try await hub.plan(try alert(nil)).difference == nil)
        #expect(try await hub.plan(try alert("SPORTS", "another text")).difference?.changed == 1)
    }

    // MARK: - Sends

    @Test func `A send uses the content of its plan, and other content is rejected`() async throws {
        try await bench.register(.phone(1))
        let plan = try await hub.plan(try alert(nil, "planned"))
        let binding = PlanBinding(try #require(plan.id))
        let other = PlannedSend(binding, content: try NotificationRequest.alert("other").content)
        #expect(await refusal { _ = try await hub.send(other) }?.code == "plan.content")
        #expect(try await hub.send(PlannedSend(binding, content: plan.content)).sent == 1)
        #expect(bench.connector.bodies == [#"{"aps":{"alert":"planned"}}"#])
        let audience = try await hub.plan(PlanRequest(audience: .everyone))
        #expect(await refusal { _ = try await hub.send(PlannedSend(PlanBinding(audience.id ?? ""))) }?.code == "plan.content")
    }

    @Test func `An unknown plan is rejected with the nearest one, and a deleted plan is reported as expired`() async throws {
        try await bench.register(.phone(1))
        for _ in 0..<12 { _ = try await hub.plan(try alert(nil)) }
        let unknown = await refusal { _ = try await hub.send(PlannedSend(PlanBinding("p-0021"))) }
        #expect(unknown?.code == "plan.not_found" && unknown?.hint?.contains("did you mean \"p-00") == true)
        bench.advance(by: .seconds(8 * 86_400))
        let id = PlanBinding("p-0012")
        #expect(await refusal { _ = try await hub.accept(PlannedSend(id)) }?.code == "plan.expired")
        try await hub.removeOld(notificationsBefore: HubBench.startTime, tombstonesBefore: HubBench.startTime)
        #expect(try await bench.store.plans(before: nil, limit: 20).isEmpty)
        #expect(await refusal { _ = try await hub.plan("p-0012") }?.code == "plan.expired")
        #expect(try await hub.plan(try alert(nil)).id == "p-0013")
    }

    @Test func `A plan is stored until the notifications that use it have ended`() async throws {
        try await bench.register(.phone(1))
        let plan = try await hub.plan(try alert(nil))
        let time = HubBench.startTime + .seconds(6 * 86_400)
        let send = PlannedSend(PlanBinding(try #require(plan.id)))
        let id = try await hub.accept(send, at: time + .seconds(10)).outcome.id
        #expect(try await bench.store.removePlans(madeBefore: .distantFuture, beyond: 0, limit: 9) == 0)
        try await bench.register(.phone(2))
        bench.clock.advance(to: time + .seconds(20))
        await bench.settle()
        #expect(try await hub.outcome(of: id).devices.map(\.handle) == [.phone(1)])
        #expect(try await bench.store.removePlans(madeBefore: .distantFuture, beyond: 0, limit: 9) == 1)
    }

    @Test func `A send whose plan is deleted meanwhile is rejected, and not sent to everyone`() async throws {
        try await bench.register(.phone(1))
        let plan = try await hub.plan(try alert(nil))
        hooks.beforeSending { [bench] draft throws(PushError) in
            _ = try await bench.store.removePlans(madeBefore: .distantFuture, beyond: 0, limit: 9)
            return draft
        }
        let send = PlannedSend(PlanBinding(try #require(plan.id)))
        #expect(await refusal { _ = try await hub.accept(send) }?.code == "plan.expired")
        #expect(try await hub.notifications(before: nil, limit: 9).isEmpty)
    }

    @Test func `Devices that left are reported with their installation`() async throws {
        try await hub.putInstallation(Installation(id: "ana-1", userID: nil, handle: .phone(1), tags: [], templates: [:]))
        try await bench.register(.phone(2))
        let plan = try await hub.plan(try alert(nil))
        try await hub.deleteInstallation("ana-1")
        let send = PlannedSend(PlanBinding(try #require(plan.id)))
        #expect(await refusal { _ = try await hub.accept(send) }?.message.contains("1 left (ana-1)") == true)
        let difference = try await hub.plan(try alert(nil)).difference
        #expect(difference?.firstLeft.map(\.installationID) == ["ana-1"])
    }

    @Test func `After a restart only the remaining devices of the plan are sent to`() async throws {
        for number in 1...3 { try await bench.register(.phone(number)) }
        let plan = try await hub.plan(try alert(nil))
        let later = HubBench.startTime + .seconds(60)
        let id = try await hub.accept(PlannedSend(PlanBinding(try #require(plan.id))), at: later).outcome.id
        await hub.stop()
        let reopened = try await bench.reopened()
        _ = try await reopened.createRegistration(RegistrationDescription(handle: .phone(4)))
        let first = try await reopened.allRegistrations(.handle(.phone(1)))
        try await reopened.deleteRegistration(first[0].id, ifMatch: nil)
        // A new registration in the freed row is not one of them either.
        _ = try await reopened.createRegistration(RegistrationDescription(handle: .phone(5)))
        bench.clock.advance(to: later)
        await bench.settle()
        #expect(try await reopened.outcome(of: id).devices.map(\.handle) == [.phone(2), .phone(3)])
    }

    @Test func `A new duplicate of a planned device does not replace it`() async throws {
        let first = try await bench.register(.phone(9))
        try await bench.register(.phone(1))
        let plan = try await hub.plan(try alert(nil))
        // The new registration is in a row before the planned one and has the same handle.
        try await hub.deleteRegistration(first.id, ifMatch: nil)
        try await bench.register(.phone(1), tags: ["new"])
        let send = PlannedSend(PlanBinding(try #require(plan.id), tolerance: .devices(2)))
        let outcome = try await hub.send(send)
        #expect(outcome.devices.map(\.outcome) == [.success] && outcome.devices.map(\.handle) == [.phone(1)])
    }

    @Test func `A hook may narrow the audience of a plan and change the text, but adds no device`() async throws {
        try await bench.register(.phone(1), tags: ["a"])
        try await bench.register(.phone(2), tags: ["a", "b"])
        try await bench.register(.phone(3), tags: ["b"])
        let plan = try await hub.plan(try alert("a"))
        let tag = try Tag("b")
        hooks.beforeSending { draft in
            var draft = draft
            draft.request.audience = .expression(.tag(tag))
            draft.request.content = .native(AlertPayloads.system(title: nil, text: "changed"))
            draft.request.plan = nil
            return draft
        }
        let outcome = try await hub.send(PlannedSend(PlanBinding(try #require(plan.id))))
        #expect(outcome.devices.map(\.handle) == [.phone(2)])
        #expect(bench.connector.bodies == [#"{"aps":{"alert":"changed"}}"#])
    }

    @Test func `A strict send is rejected if a device joins during the hook`() async throws {
        try await bench.register(.phone(1))
        let plan = try await hub.plan(try alert(nil))
        hooks.beforeSending { [bench] draft throws(PushError) in
            _ = try await bench.hub.createRegistration(RegistrationDescription(handle: .phone(2)))
            return draft
        }
        let send = PlannedSend(PlanBinding(try #require(plan.id)))
        let refusal = await refusal { _ = try await hub.accept(send) }
        #expect(refusal?.code == "plan.drifted" && refusal?.status == 409)
        #expect(refusal?.details["firstJoined"]?.array?.count == 1)
    }

    @Test func `Devices that a hook defers are sent to later, and devices that joined meanwhile are not`() async throws {
        try await bench.register(.phone(1), tags: ["quiet"])
        try await bench.register(.phone(2))
        let plan = try await hub.plan(try alert(nil))
        let morning = HubBench.startTime + .seconds(3600)
        try hooks.hold("quiet", until: morning)
        let id = try await hub.accept(PlannedSend(PlanBinding(try #require(plan.id)))).outcome.id
        try await until { await hub.settledCount(id) == 1 }
        hooks.beforeDelivering(nil)
        try await bench.register(.phone(3), tags: ["quiet"])
        bench.clock.advance(to: morning)
        await bench.settle()
        #expect(Set(try await hub.outcome(of: id).devices.map(\.handle)) == [.phone(1), .phone(2)])
    }

    @Test func `A repeated send with the same key returns the first result, whatever has changed since`() async throws {
        try await bench.register(.phone(1))
        let plan = try await hub.plan(try alert(nil))
        let send = PlannedSend(PlanBinding(try #require(plan.id)))
        let first = try await hub.accept(send, idempotencyKey: "k")
        try await bench.register(.phone(2))
        let second = try await hub.accept(send, idempotencyKey: "k")
        #expect(second.isRepeated && second.outcome.id == first.outcome.id)
        #expect(await refusal { _ = try await hub.accept(send, idempotencyKey: "other") }?.code == "plan.drifted")
    }

    @Test func `Pages of the devices follow each other`() async throws {
        for number in 1...25 { try await bench.register(.phone(number), tags: ["username:u\(number)"]) }
        let id = try #require(try await hub.plan(try alert(nil)).id)
        var found: [PlannedDevice] = []
        while case let page = try await hub.devices(ofPlan: id, from: found.count, limit: 10), !page.isEmpty { found += page }
        #expect(found.map(\.user) == (1...25).map { "u\($0)" })
        #expect(found.allSatisfy { $0.handle?.contains("…") == true && !$0.hasLeft && $0.bytes == 25 })
    }
}

extension NotificationHub {
    fileprivate func settledCount(_ id: String) async -> Int { (try? await outcome(of: id).total) ?? 0 }
}
