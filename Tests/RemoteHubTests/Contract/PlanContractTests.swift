import PushModel
import Support
import Testing

/// The contract of ``HubGateway`` for plans.
@Suite struct PlanContractTests {
    private static let sides: [HubSide] = [.embedded, .pushHost, .pushHostJSON]

    private static func request(_ content: NotificationContent?, to expression: String?) throws -> PlanRequest {
        let audience = try expression.map { Audience.expression(try TagExpression(parsing: $0)) } ?? .everyone
        return PlanRequest(audience: audience, content: content)
    }

    @Test(arguments: sides)
    func `A plan shows the recipients and their content, and nothing is sent`(side: HubSide) async throws {
        try await side.run { bench in
            _ = try await bench.register(.phone(1), "a", "locale:pt", template: #"{"aps":{"alert":"$(news)"}}"#)
            _ = try await bench.register(.phone(2), "a")
            let request = try Self.request(.template(["news": "Größe \"7\""]), to: "a && !b")
            let plan = try await bench.hub.plan(request)
            #expect(plan.matched == 2 && plan.total == 1 && plan.platforms == [.apns: 1])
            #expect(plan.audience == request.audience && plan.content == request.content)
            #expect(plan.locales == [PlanReport.Count(name: "pt", devices: 1)])
            #expect(plan.groups.map(\.payload) == [#"{"aps":{"alert":"Größe \"7\""}}"#] && plan.groups.first?.limit == 4096)
            #expect(try await bench.hub.plan(try #require(plan.id)) == plan)
            let nobody = try await bench.hub.plan(try Self.request(nil, to: "a && vip"))
            #expect(nobody.total == 0 && nobody.failedTerms.first == PlanReport.FailedTerm(term: "vip", matches: 0, without: 2))
            #expect(bench.connector.batches.isEmpty)
        }
    }

    @Test(arguments: sides)
    func `A send with a plan reaches its devices alone, or reports the drift`(side: HubSide) async throws {
        try await side.run { bench in
            _ = try await bench.register(.phone(1), "a")
            let content = try NotificationRequest.alert("planned").content
            let id = try #require(try await bench.hub.plan(try Self.request(content, to: "a")).id)
            _ = try await bench.register(.phone(2), "a")
            let drifted = await refusal { _ = try await bench.hub.send(PlannedSend(PlanBinding(id))) }
            #expect(drifted?.code == "plan.drifted" && drifted?.status == 409 && drifted?.message.contains("1 joined") == true)
            let other = PlannedSend(
                PlanBinding(id, tolerance: .devices(1)), content: try NotificationRequest.alert("another").content)
            #expect(await refusal { _ = try await bench.hub.send(other) }?.code == "plan.content")
            let outcome = try await bench.hub.send(
                PlannedSend(PlanBinding(id, tolerance: try DriftTolerance("100%")), options: PushOptions(priority: .low, collapseID: "c")))
            #expect(outcome.sent == 1 && bench.connector.batches.map(\.handles) == [[.phone(1)]])
            #expect(bench.connector.batches.first?.options == PushOptions(priority: .low, collapseID: "c"))
            #expect(await refusal { _ = try await bench.hub.send(PlannedSend(PlanBinding("p-9999"))) }?.code == "plan.not_found")
        }
    }

    @Test func `Azure has no plans`() async throws {
        try await HubSide.azure.run { bench in
            let request = try Self.request(nil, to: "a")
            #expect(await refusal { _ = try await bench.hub.plan(request) }?.code == "target.unsupported")
            #expect(await refusal { _ = try await bench.hub.send(PlannedSend(PlanBinding("p-0001"))) }?.code == "target.unsupported")
        }
    }
}
