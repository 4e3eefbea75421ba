import PushModel
import Storage
import Support
import Testing

@Suite struct PrunedStoreTests {
    private static func pruned(
        _ number: Int, reason: String = "Unregistered", notification: String = "n-1", after seconds: Int64 = 0
    ) -> PrunedDevice {
        PrunedDevice(
            .registration(Samples.registration(number)), handle: .phone(number), reason: reason, notificationID: notification,
            time: HubBench.startTime + .seconds(seconds))
    }

    private static func change(_ devices: [PrunedDevice]) -> RegistrationChange {
        var change = RegistrationChange()
        change.pruned = devices
        return change
    }

    private static func back(_ numbers: [Int64]) -> RegistrationChange {
        var change = RegistrationChange()
        (change.restored, change.restoredAt) = (numbers, HubBench.startTime + .seconds(99))
        return change
    }

    @Test(arguments: Engine.allCases)
    func `a pruned device of any kind is returned unchanged`(engine: Engine) async throws {
        var devices = Samples.handles.enumerated().map { number, handle in
            PrunedDevice(
                .registration(
                    Registration(
                        id: Samples.id(number), etag: number, expiration: .distantFuture, updatedAt: HubBench.startTime,
                        description: RegistrationDescription(handle: handle, tags: []))),
                handle: handle, reason: Samples.oddText, notificationID: "n-1", time: HubBench.startTime)
        }
        for (number, template) in try Samples.templates().enumerated() {
            let handle = try #require(Samples.handles.first { $0.platform == template.platform })
            devices.append(
                PrunedDevice(
                    .registration(
                        Registration(
                            id: Samples.id(100 + number), etag: .max, expiration: .distantFuture, updatedAt: HubBench.startTime,
                            description: RegistrationDescription(
                                handle: handle, tags: [try Tag("Größe")], template: template, pushVariables: ["a": Samples.oddText]))),
                    handle: handle, reason: "", notificationID: Samples.oddText, time: HubBench.startTime))
        }
        devices.append(
            PrunedDevice(
                .installation(id: Samples.oddText, userID: "Bob", tags: [try Tag("News")]), handle: .phone(1), reason: "x",
                notificationID: "n",
                time: HubBench.startTime))
        for index in devices.indices { devices[index].number = Int64(index + 1) }
        let expected = devices
        try await engine.runHub { store in
            try await store.commit(Self.change(expected))
            #expect(try await store.pruned(PrunedFilter(), below: nil, limit: 99) == expected.reversed())
        }
    }

    @Test(arguments: Engine.allCases)
    func `pruned devices are found by a filter, page by page, latest first`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.commit(Self.change((1...5).map { Self.pruned($0, after: Int64($0)) }))
            try await store.commit(Self.change([Self.pruned(6, reason: "ExpiredToken", notification: "n-2", after: 6)]))
            func numbers(_ filter: PrunedFilter, below: Int64? = nil, limit: Int = 9) async throws -> [Int64] {
                try await store.pruned(filter, below: below, limit: limit).map(\.number)
            }
            #expect(try await numbers(PrunedFilter(), limit: 4) == [6, 5, 4, 3])
            #expect(try await numbers(PrunedFilter(), below: 3) == [2, 1])
            #expect(try await numbers(PrunedFilter(reason: "ExpiredToken")) == [6])
            #expect(try await numbers(PrunedFilter(notificationID: "n-1", since: HubBench.startTime + .seconds(4))) == [5, 4])
            #expect(try await numbers(PrunedFilter(id: Samples.id(2).text)) == [2])
            #expect(try await numbers(PrunedFilter(id: Samples.id(2).text, reason: "ExpiredToken")) == [])
            #expect(try await store.forgetPruned(before: HubBench.startTime + .seconds(4), limit: 2, keepsUnreported: false) == 2)
            #expect(try await store.forgetPruned(before: HubBench.startTime + .seconds(4), limit: 2, keepsUnreported: false) == 1)
            #expect(try await numbers(PrunedFilter()) == [6, 5, 4])
        }
    }

    @Test(arguments: Engine.allCases)
    func `a restored device is not pruned any more, and is reported if its removal may have been reported`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.commit(Self.change((1...4).map { Self.pruned($0) }))
            try await store.commit(Self.back([4]))
            #expect(try await store.unreportedPruned(limit: 2).map(\.number) == [1, 2])
            try await store.commit(Self.back([2, 3]))
            #expect(try await store.pruned(PrunedFilter(), below: nil, limit: 9).map(\.number) == [1])
            let untold = try await store.unreportedPruned(limit: 9)
            #expect(untold.map(\.id) == [Samples.id(1).text, Samples.id(2).text] && untold.map(\.isRestored) == [false, true])
            #expect(untold.last?.time == HubBench.startTime + .seconds(99) && untold.last?.number == 5)
            try await store.acknowledgePruned(upTo: 5)
            #expect(try await store.unreportedPruned(limit: 9).isEmpty)
            #expect(try await store.pruned(PrunedFilter(), below: nil, limit: 9).map(\.number) == [1])
        }
    }

    @Test(arguments: Engine.allCases)
    func `pruned devices that have not been reported remain, up to a limit`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.commit(Self.change((1...6).map { Self.pruned($0) }))
            try await store.acknowledgePruned(upTo: 1)
            #expect(try await store.forgetPruned(before: .distantFuture, limit: 9, keepsUnreported: true) == 1)
            #expect(try await store.countUnreportedPruned() == 5)
            #expect(try await store.dropUnreportedPruned(beyond: 5) == 0)
            #expect(try await store.dropUnreportedPruned(beyond: 2) == 3)
            #expect(try await store.unreportedPruned(limit: 9).map(\.number) == [5, 6])
            #expect(try await store.countUnreportedPruned() == 2)
            #expect(try await store.forgetPruned(before: .distantFuture, limit: 9, keepsUnreported: false) == 5)
            #expect(try await store.countUnreportedPruned() == 0)
        }
    }
}
