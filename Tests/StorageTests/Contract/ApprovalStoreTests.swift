import PushModel
import Storage
import Support
import Testing

@Suite struct ApprovalStoreTests {
    private func approval(
        _ print: UInt8 = 1, by requester: Principal = .key("ops", hub: nil), key: String? = nil, hub: Int64 = 1,
        at time: Timestamp = HubBench.startTime
    ) throws -> Approval {
        Approval(
            origin: Approval.Origin(
                hub: Approval.Hub(number: hub, name: "hub"), requester: requester, note: Samples.oddText, createdAt: time),
            expiresAt: time + .seconds(100),
            keys: Approval.Keys(fingerprint: [print, 0, 255], idempotencyKey: key, sendKey: "key-\(print)"),
            scope: Approval.Scope(
                dueAt: HubBench.startTime + .seconds(60), audience: "tags \(Samples.oddText)", content: "templates",
                ceiling: Approval.Ceiling(devices: 10, owner: nil),
                reach: AudienceReach(platforms: [.apns: 7, .fcmV1: 5], isUnknown: print == 2)),
            request: try NotificationRequest.properties(["text": Samples.oddText], to: "a && !b"))
    }

    @Test(arguments: Engine.allCases)
    func `An approval is stored under the next number and returned unchanged, also after an update`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.approvals
            #expect(try await store.approval(1) == nil)
            var expected = try approval(key: "k")
            let first = try await store.add(expected)
            expected.number = 1
            #expect(first == expected && first.id == "a-1")
            #expect(try await store.approval(1) == expected)
            let second = try await store.add(try approval(2))
            #expect(second.number == 2)
            #expect(try await store.approval(2) == second && second.reach.isUnknown)

            var decided = first
            decided.state = .sent
            decided.request = nil
            decided.scope.reach.platforms[.apns] = 9
            decided.failure = Samples.oddText
            decided.decision = Approval.Decision(principal: .owner, time: HubBench.startTime + .seconds(5), reason: Samples.oddText)
            decided.notificationID = "n-1"
            #expect(try await store.replace(decided, from: .approved) == false)
            #expect(try await store.approval(1) == expected)
            #expect(try await store.replace(decided, from: .pending))
            #expect(try await store.approval(1) == decided)
            #expect(try await store.replace(first, from: .pending) == false)
            #expect(try await store.approval(1) == decided)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A repeated request returns the pending approval`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.approvals
            let first = try await store.add(try approval(1, key: "k"))
            #expect(try await store.add(try approval(1)) == first)
            #expect(try await store.add(try approval(9, key: "k")) == first)
            // Differs by requester, by hub, by content, and by a time after the approval has expired.
            for (number, other) in [
                try approval(1, by: .owner), try approval(1, hub: 2), try approval(2, key: "l"),
                try approval(1, at: HubBench.startTime + .seconds(100)),
            ].enumerated() {
                #expect(try await store.add(other).number == Int64(number + 2))
            }
            var denied = try #require(try await store.approval(3))
            denied.state = .denied
            #expect(try await store.replace(denied, from: .pending))
            #expect(try await store.add(try approval(1, hub: 2)).number == 6)
            #expect(try await store.approval(under: "k", by: .key("ops", hub: nil), atHub: 1)?.number == 1)
            #expect(try await store.approval(under: "k", by: .owner, atHub: 1) == nil)
            #expect(try await store.approval(under: "k", by: .key("ops", hub: nil), atHub: 2) == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Approvals are listed newest first, page by page, by state`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.approvals
            for print in 1...6 { _ = try await store.add(try approval(UInt8(print))) }
            for number: Int64 in [2, 5] {
                var expired = try #require(try await store.approval(number))
                expired.state = .expired
                #expect(try await store.replace(expired, from: .pending))
            }
            func numbers(_ before: Int64?, _ limit: Int, _ state: Approval.State?) async throws -> [Int64] {
                try await store.approvals(before: before, limit: limit, state: state).map(\.number)
            }
            #expect(try await numbers(nil, 3, nil) == [6, 5, 4])
            #expect(try await numbers(4, 9, nil) == [3, 2, 1])
            #expect(try await numbers(nil, 9, .pending) == [6, 4, 3, 1])
            #expect(try await numbers(5, 1, .expired) == [2])
            #expect(try await numbers(nil, 9, .sent) == [])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Of many simultaneous changes to one approval, one succeeds`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.approvals
            let kept = try await store.add(try approval())
            let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<20 {
                    var approved = kept
                    approved.state = .approved
                    approved.notificationID = "n-\(number)"
                    group.addTask { [approved] in try await store.replace(approved, from: .pending) }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(winners == 1)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Pending approvals are limited in total and per requester, and a repeated request is found first`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.approvals
            let first = try await store.add(try approval(1))
            _ = try await store.add(try approval(2))
            #expect(try await store.add(try approval(3), most: 9, each: 2) == .fullForRequester)
            #expect(try await store.add(try approval(1), most: 0, each: 0) == .pending(first))
            #expect(try await store.add(try approval(3), most: 2, each: 9) == .full)
            #expect(try await store.add(try approval(3, by: .owner), most: 3, each: 1).number == 3)
            #expect(try await store.add(try approval(4), most: 4, each: 2) == .fullForRequester)
            // Approvals that were decided or have expired do not count.
            var denied = first
            denied.state = .denied
            #expect(try await store.replace(denied, from: .pending))
            #expect(try await store.add(try approval(4), most: 3, each: 2).number == 4)
            #expect(try await store.add(try approval(5, at: HubBench.startTime + .seconds(100)), most: 1, each: 1).number == 5)
        }
    }
}

extension ApprovalAddition {
    fileprivate var approval: Approval? { if case .pending(let kept) = self { kept } else { nil } }
    fileprivate var number: Int64? { approval?.number }
}

extension ApprovalStore {
    fileprivate func add(_ approval: Approval) async throws -> Approval {
        try #require(try await add(approval, most: .max, each: .max).approval)
    }
}
