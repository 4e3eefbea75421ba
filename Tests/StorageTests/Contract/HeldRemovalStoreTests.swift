import PushModel
import Storage
import Support
import Testing

@Suite struct HeldRemovalStoreTests {
    private static func removal(_ number: Int, notification: String = "n-1", reason: String = "Unregistered", at seconds: Int64 = 0)
        -> HeldRemoval
    {
        HeldRemoval(
            handle: .phone(number), reason: reason, notificationID: notification, time: HubBench.startTime,
            validBefore: HubBench.startTime + .seconds(seconds))
    }

    @Test(arguments: Engine.allCases)
    func `held removals are listed page by page, newest first`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.hold((1...3).map { Self.removal($0) })
            try await store.hold([Self.removal(4, notification: "n-2", reason: Samples.oddText)])
            func numbers(_ filter: HeldRemovalFilter, below: Int64? = nil, limit: Int = 9) async throws -> [DeviceHandle] {
                try await store.heldRemovals(filter, below: below, limit: limit).map(\.handle)
            }
            let all = try await store.heldRemovals(HeldRemovalFilter(), below: nil, limit: 9)
            #expect(all.map(\.handle) == [4, 3, 2, 1].map { .phone($0) })
            #expect(try await numbers(HeldRemovalFilter(), below: all[1].number, limit: 1) == [.phone(2)])
            #expect(try await numbers(HeldRemovalFilter(notificationID: "n-2")) == [.phone(4)])
            #expect(try await numbers(HeldRemovalFilter(notificationID: "n-1", reason: Samples.oddText)) == [])
            var unknown = Self.removal(9)
            unknown.number = 99
            #expect(try await store.dropHeldRemovals([all[0], all[3], unknown]) == [all[0].number, all[3].number])
            #expect(try await numbers(HeldRemovalFilter()) == [.phone(3), .phone(2)])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a handle has one held removal, with the latest time`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.hold([Self.removal(1, at: 5)])
            try await store.hold([Self.removal(1, notification: "n-2", at: 3)])
            try await store.hold([Self.removal(1, notification: "n-3", at: 9)])
            var expected = Self.removal(1, at: 9)
            expected.number = 1
            #expect(try await store.heldRemovals(HeldRemovalFilter(), below: nil, limit: 9) == [expected])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a removal that was held again is not dropped by a decision about its earlier state`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.hold([Self.removal(1, at: 3), Self.removal(2, at: 3)])
            let read = try await store.heldRemovals(HeldRemovalFilter(), below: nil, limit: 9)
            try await store.hold([Self.removal(1, notification: "n-2", at: 9)])
            let dropped = try await store.dropHeldRemovals(read)
            #expect(dropped == [read[0].number])
            let left = try await store.heldRemovals(HeldRemovalFilter(), below: nil, limit: 9)
            #expect(left.map(\.handle) == [.phone(1)] && left.map(\.validBefore) == [HubBench.startTime + .seconds(9)])
            #expect(try await store.dropHeldRemovals(left) == [left[0].number])
            #expect(try await store.dropHeldRemovals(left) == [])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a change of registrations deletes the held removals that it names`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.hold((1...3).map { Self.removal($0) })
            var change = RegistrationChange()
            change.resolvedRemovals = [.phone(2), .phone(7)]
            try await store.commit(change)
            #expect(try await store.heldRemovals(HeldRemovalFilter(), below: nil, limit: 9).map(\.handle) == [.phone(3), .phone(1)])
        }
    }
}
