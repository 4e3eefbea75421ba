import PushModel
import Storage
import Support
import Testing

@Suite struct PlanStoreTests {
    private static func plan(
        _ second: Int64, subject: String = "all *", content: NotificationContent? = nil, members: Int = 2
    ) throws -> StoredPlan {
        let expression = try TagExpression(parsing: "Sports && !muted")
        var report = PlanReport(plannedAt: HubBench.startTime + .seconds(second), audience: .expression(expression), content: content)
        report.expiresAt = HubBench.startTime + .seconds(second + 600)
        report.plannedBy = Samples.oddText
        (report.matched, report.total, report.duplicates, report.refused) = (9, 7, 2, 1)
        report.platforms = [.apns: 5, .fcmV1: 2]
        report.tags = [PlanReport.Count(name: "Sports", devices: 7)]
        report.furtherTags = 3
        report.locales = [PlanReport.Count(name: "pt-BR", devices: 2)]
        report.nearMisses = [Samples.oddText]
        report.failedTerms = [PlanReport.FailedTerm(term: "!muted", matches: 1, without: nil)]
        return StoredPlan(number: 0, subject: subject, members: members, report: report)
    }

    private static func kept(_ plan: StoredPlan, _ number: Int64) -> StoredPlan {
        var kept = plan
        kept.number = number
        kept.report.id = kept.id
        return kept
    }

    private static let contents: [NotificationContent?] = [
        nil, .template(["text": Samples.oddText, "": ""]),
        .native([
            .apns: NativePayload(body: Array("{}".utf8), headers: [PushHeader("apns-priority", "5")]),
            .wns: NativePayload(body: [0xff, 0]),
        ]),
    ]

    @Test(arguments: Engine.allCases)
    func `Plans are stored under the next number and returned unchanged`(engine: Engine) async throws {
        try await engine.runHub { store in
            #expect(try await store.lastPlan() == 0)
            for (number, content) in Self.contents.enumerated() {
                let plan = try Self.plan(Int64(number), content: content)
                let parts: [[UInt8]] = [[1, 2, 3], [], Array(repeating: 7, count: 100_000)]
                let given = try await store.addPlan(plan, parts: parts)
                #expect(given == Int64(number + 1))
                #expect(try await store.plan(given) == Self.kept(plan, given))
                for (part, bytes) in parts.enumerated() { #expect(try await store.planPart(given, part: part) == bytes) }
                #expect(try await store.planPart(given, part: 3) == nil)
            }
            #expect(try await store.lastPlan() == 3)
            #expect(try await store.plan(4) == nil)
            #expect(try await store.plan(0) == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Plans are listed newest first, and found by their subject`(engine: Engine) async throws {
        try await engine.runHub { store in
            for number in Int64(1)...5 {
                _ = try await store.addPlan(try Self.plan(number, subject: number.isMultiple(of: 2) ? "even" : "odd"), parts: [])
            }
            #expect(try await store.plans(before: nil, limit: 2).map(\.number) == [5, 4])
            #expect(try await store.plans(before: 4, limit: 9).map(\.number) == [3, 2, 1])
            #expect(try await store.latestPlan(of: "even")?.number == 4)
            #expect(try await store.latestPlan(of: "nobody") == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Old plans are deleted, oldest first, and their numbers are not used again`(engine: Engine) async throws {
        try await engine.runHub { store in
            for number in Int64(1)...6 { _ = try await store.addPlan(try Self.plan(number), parts: [[1]]) }
            #expect(try await store.removePlans(madeBefore: HubBench.startTime + .seconds(4), beyond: 9, limit: 2) == 2)
            #expect(try await store.plans(before: nil, limit: 9).map(\.number) == [6, 5, 4, 3])
            #expect(try await store.planPart(1, part: 0) == nil)
            #expect(try await store.removePlans(madeBefore: HubBench.startTime, beyond: 3, limit: 9) == 1)
            #expect(try await store.removePlans(madeBefore: HubBench.startTime, beyond: 3, limit: 9) == 0)
            #expect(try await store.removePlans(madeBefore: .distantFuture, beyond: 3, limit: 9) == 3)
            #expect(try await store.addPlan(try Self.plan(7), parts: []) == 7)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A plan remains until the notification that uses it has ended`(engine: Engine) async throws {
        try await engine.runHub { store in
            for number in Int64(1)...2 { _ = try await store.addPlan(try Self.plan(number), parts: [[1]]) }
            var notification = try Samples.notification(1)
            notification.request.plan = PlanBinding("p-0001", tolerance: try DriftTolerance("2.5%"))
            notification.request.approvedReach = ApprovedReach(devices: 1_000, basis: .ceiling(of: .key("ops", hub: nil)))
            #expect(try await store.accept(notification) == .accepted)
            #expect(try await store.notification(1)?.request == notification.request)
            #expect(try await store.removePlans(madeBefore: .distantFuture, beyond: 0, limit: 9) == 1)
            #expect(try await store.plan(1) != nil)
            #expect(try await store.plan(2) == nil)
            var outcome = notification.outcome
            (outcome.state, outcome.times.endedAt) = (.completed, HubBench.startTime)
            try await store.record(NotificationProgress(sequence: 1, outcome: outcome, devices: []))
            #expect(try await store.removePlans(madeBefore: .distantFuture, beyond: 0, limit: 9) == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A notification of a missing plan is rejected`(engine: Engine) async throws {
        try await engine.runHub { store in
            var notification = try Samples.notification(1)
            for id in ["p-0001", "none"] {
                notification.request.plan = PlanBinding(id)
                let bound = notification
                #expect(await refusal { _ = try await store.accept(bound) }?.code == "plan.expired")
            }
            #expect(try await store.notification(1) == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Plans belong to their hub and are removed with it`(engine: Engine) async throws {
        try await engine.run { storage in
            for number in Int64(1)...2 {
                try await storage.namespace.putHub(Samples.hub(number, name: "hub-\(number)"))
                _ = try await storage.namespace.store(ofHub: number).addPlan(try Self.plan(1), parts: [[1], [2]])
            }
            try await storage.namespace.removeHub(1)
            #expect(try await storage.namespace.store(ofHub: 1).plans(before: nil, limit: 9).isEmpty)
            #expect(try await storage.namespace.store(ofHub: 2).plans(before: nil, limit: 9).map(\.number) == [1])
            #expect(try await storage.namespace.store(ofHub: 2).planPart(1, part: 1) == [2])
        }
    }
}
