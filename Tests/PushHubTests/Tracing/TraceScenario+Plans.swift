import PushHub
import PushModel
import Support
import Testing

// Scenarios about sends to the devices of a plan.
extension TraceScenario {
    static let plans: [TraceScenario] = [
        TraceScenario(
            .notInPlan,
            "The notification was sent only to the devices of the plan p-0001, and alice-2 was not among them: it joined at "
                + "2026-01-05 09:01:00 UTC, after the plan was made."
        ) { bench in
            try await bench.install(tags: ["sports"])
            let plan = try await bench.plan("sports")
            bench.hub.advance(by: .seconds(60))
            try await bench.install("alice-2", .phone(2), tags: ["sports"])
            return (try await bench.send(to: plan), "alice-2")
        },
        TraceScenario(
            .notInPlan,
            "The notification was sent only to the devices of the plan p-0001, and alice-2 was not among them: it was changed at "
                + "2026-01-05 09:01:00 UTC, after the plan was made, and did not belong to it before."
        ) { bench in
            for (number, tag) in [(1, "sports"), (2, "chess")] { try await bench.install("alice-\(number)", .phone(number), tags: [tag]) }
            let plan = try await bench.plan("sports")
            bench.hub.advance(by: .seconds(60))
            try await bench.install("alice-2", .phone(2), tags: ["sports"])
            return (try await bench.send(to: plan), "alice-2")
        },
        TraceScenario(.tagMissing, "The notification was for \"sports\", and alice-2 does not have the tag \"sports\".") { bench in
            for (number, tag) in [(1, "sports"), (2, "chess")] { try await bench.install("alice-\(number)", .phone(number), tags: [tag]) }
            let plan = try await bench.plan("sports")
            return (try await bench.send(to: plan), "alice-2")
        },
        TraceScenario(
            .planForgotten,
            "The notification was sent only to the devices of the plan p-0001, which is no longer stored: alice-2 may have been one."
        ) { bench in
            try await bench.install(tags: ["sports"])
            let plan = try await bench.plan("sports")
            bench.hub.advance(by: .seconds(60))
            try await bench.install("alice-2", .phone(2), tags: ["sports"])
            let id = try await bench.send(to: plan)
            #expect(try await bench.hub.store.removePlans(madeBefore: .distantFuture, beyond: 0, limit: 9) == 1)
            return (id, "alice-2")
        },
        TraceScenario(
            .planLost, "The plan p-0001 could not be read when the notification was to be sent to its devices, so it was not sent."
        ) { bench in
            try await bench.install(tags: ["sports"])
            return (try await bench.losePlan(), "alice-1")
        },
    ]
}

extension TraceBench {
    /// Makes a plan for an alert to an expression, and returns its id.
    func plan(_ expression: String) async throws -> String {
        let request = try NotificationRequest.alert(to: expression)
        return try #require(try await hub.hub.plan(PlanRequest(audience: request.audience, content: request.content)).id)
    }

    /// Sends to a plan, with a tolerance of nine devices.
    func send(to plan: String) async throws -> String {
        let hub = hub.hub
        return try await self.hub.passingTime { try await hub.send(PlannedSend(PlanBinding(plan, tolerance: .devices(9)))).id }
    }

    /// A notification that an earlier process accepted, with a plan whose devices this process cannot read.
    func losePlan() async throws -> String {
        var request = try NotificationRequest.alert(to: "sports")
        let report = PlanReport(plannedAt: hub.clock.now, audience: request.audience, content: request.content)
        let number = try await hub.store.addPlan(StoredPlan(number: 0, subject: "sports", members: 1, report: report), parts: [[0xFF]])
        request.plan = PlanBinding(PlanID.text(number))
        let outcome = NotificationOutcome(
            id: "n-0001", state: .enqueued, tags: "sports", times: NotificationTimes(enqueuedAt: hub.clock.now))
        _ = try await hub.store.accept(StoredNotification(sequence: 1, request: request, outcome: outcome))
        try await hub.hub.resume()
        try await until { try await hub.hub.notification("n-0001").outcome.state.isFinal }
        return "n-0001"
    }
}
