import PushModel
import Storage
import Support
import Testing

@Suite struct NotificationStoreTests {
    private static func requests() throws -> [NotificationRequest] {
        var requests = [
            try NotificationRequest.alert(Samples.oddText), try .alert(to: "(a || b) && !(c && !d) || $UserId:{x=y}"),
            try .properties(["m": Samples.oddText, "": "", "e\u{301}": "\u{0}"], to: "Größe"), try .properties([:]),
            NotificationRequest(
                audience: .everyone,
                content: .native([
                    .wns: NativePayload(body: [0xff, 0, 0xfe], headers: [PushHeader("X-WNS-Type", "wns/raw"), PushHeader("a", "")]),
                    .apns: NativePayload(body: []), .mpns: NativePayload(body: Array(Samples.oddText.utf8)),
                ]),
                options: PushOptions(
                    expiration: Timestamp(milliseconds: .max), priority: .low, collapseID: Samples.oddText), isTest: true),
            NotificationRequest(audience: .everyone, content: .native([:])),
        ]
        for handle in Samples.handles {
            requests.append(NotificationRequest(audience: .device(handle), content: .native([handle.platform: NativePayload(body: [32])])))
        }
        return requests
    }

    @Test(arguments: Engine.allCases)
    func `Requests of every kind are returned unchanged`(engine: Engine) async throws {
        try await engine.runHub { store in
            var kept: [StoredNotification] = []
            for (number, request) in try Self.requests().enumerated() {
                kept.append(try Samples.notification(Int64(number) + 1, key: "key-\(number)", fingerprint: 9, request: request))
                if number % 2 == 1 { kept[number].origin = ["digest", Samples.oddText] }
                #expect(try await store.accept(kept[number]) == .accepted)
            }
            #expect(try await store.unfinished(after: 0, limit: 100) == kept)
            for notification in kept { #expect(try await store.notification(notification.sequence) == notification) }
        }
    }

    @Test(arguments: Engine.allCases)
    func `Outcomes of every state are returned, without their devices`(engine: Engine) async throws {
        try await engine.runHub { store in
            for (number, state) in NotificationOutcome.State.allCases.enumerated() {
                let devices = OutcomeName.allCases.enumerated().map { Samples.device($0, outcome: $1) }
                var outcome = NotificationOutcome(
                    id: "\(number) \(Samples.oddText)", state: state, tags: number == 0 ? nil : Samples.oddText,
                    times: NotificationTimes(
                        enqueuedAt: HubBench.startTime, scheduledFor: .distantFuture, startedAt: HubBench.startTime + .seconds(1),
                        endedAt: Timestamp(milliseconds: -1)), devices: devices, nearMisses: ["a", Samples.oddText])
                outcome.tally.count(devices)
                outcome.tally.counts[.wns] = [:]
                outcome.note(Samples.notices)
                var kept = try Samples.notification(Int64(number) + 1)
                kept.outcome = outcome
                #expect(try await store.accept(kept) == .accepted)
                kept.outcome.devices = []
                #expect(try await store.notification(kept.sequence) == kept)
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `The same key and request return the first result, and another request gets the id that uses the key`(
        engine: Engine
    ) async throws {
        try await engine.runHub { store in
            let first = try Samples.notification(1, key: "Key")
            #expect(try await store.accept(first) == .accepted)
            #expect(try await store.accept(try Samples.notification(2, key: "Key")) == .repeated(first))
            #expect(try await store.accept(try Samples.notification(2, key: "Key", fingerprint: 1)) == .keyInUse(id: first.outcome.id))
            #expect(try await store.accept(try Samples.notification(2, key: "key", fingerprint: 1)) == .accepted)
            #expect(try await store.accept(try Samples.notification(3)) == .accepted)
            #expect(try await store.accept(try Samples.notification(4)) == .accepted)
            #expect(try await store.load().lastSequence == 4)
            // The result is the current one.
            let progress = try Samples.ended(1, devices: [Samples.device(1)])
            try await store.record(progress)
            var finished = first
            finished.outcome = progress.outcome
            #expect(try await store.accept(try Samples.notification(5, key: "Key")) == .repeated(finished))
            #expect(try await store.notifications(before: nil, limit: 9).map(\.sequence) == [4, 3, 2, 1])
        }
    }

    @Test(arguments: Engine.allCases)
    func `An idempotency key can be looked up before anything is stored under it`(engine: Engine) async throws {
        try await engine.run { storage in
            let store = storage.namespace.store(ofHub: 1)
            let first = try Samples.notification(1, key: "Key")
            let key = try #require(first.idempotency)
            #expect(try await store.acceptance(under: key) == nil)
            _ = try await store.accept(first)
            #expect(try await store.acceptance(under: key) == .repeated(first))
            #expect(try await store.acceptance(under: IdempotencyKey(key: "Key", fingerprint: [1])) == .keyInUse(id: first.outcome.id))
            #expect(try await store.acceptance(under: IdempotencyKey(key: "key", fingerprint: key.fingerprint)) == nil)
            #expect(try await storage.namespace.store(ofHub: 2).acceptance(under: key) == nil)
            var outcome = first.outcome
            (outcome.state, outcome.times.endedAt) = (.completed, HubBench.startTime)
            try await store.record(NotificationProgress(sequence: 1, outcome: outcome, devices: []))
            #expect(try await store.removeEnded(before: HubBench.startTime + .seconds(1), limit: 9) == 1)
            #expect(try await store.acceptance(under: key) == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Of many simultaneous requests with one key, one is stored`(engine: Engine) async throws {
        try await engine.runHub { store in
            let acceptances = try await withThrowingTaskGroup(of: AcceptanceResult.self) { group in
                for sequence in 1...32 {
                    group.addTask {
                        try await store.accept(
                            try Samples.notification(Int64(sequence), key: "key", fingerprint: sequence.isMultiple(of: 2) ? 0 : 1))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let kept = try await store.notifications(before: nil, limit: 99)
            #expect(kept.count == 1)
            let first = try #require(kept.first)
            #expect(acceptances.count { $0 == .accepted } == 1)
            #expect(acceptances.count { $0 == .repeated(first) } == 15)
            #expect(acceptances.count { $0 == .keyInUse(id: first.outcome.id) } == 16)
        }
    }

    @Test(arguments: Engine.allCases)
    func `A sequence that is already in use is rejected, and nothing is stored`(engine: Engine) async throws {
        try await engine.runHub { store in
            #expect(try await store.accept(try Samples.notification(1)) == .accepted)
            let other = try Samples.notification(1, id: "other")
            #expect(await refusal { _ = try await store.accept(other) }?.code == "storage.conflict")
            #expect(try await store.unfinished(after: 0, limit: 9) == [try Samples.notification(1)])
        }
    }

    @Test(arguments: Engine.allCases)
    func `Unfinished notifications are listed in order, page by page, until they end`(engine: Engine) async throws {
        try await engine.runHub { store in
            let states: [NotificationOutcome.State] = [.enqueued, .scheduled, .processing, .completed, .enqueued, .enqueued]
            for (number, state) in states.enumerated() {
                _ = try await store.accept(try Samples.notification(Int64(number) + 1, state: state))
            }
            #expect(try await store.unfinished(after: 0, limit: 2).map(\.sequence) == [1, 2])
            #expect(try await store.unfinished(after: 2, limit: 9).map(\.sequence) == [3, 5, 6])
            try await store.record(try Samples.ended(5))
            try await store.record(try Samples.ended(1, state: .processing))
            #expect(try await store.unfinished(after: 0, limit: 9).map(\.sequence) == [1, 2, 3, 6])
            #expect(try await store.unfinished(after: .max, limit: 9).isEmpty)
            #expect(try await store.unfinished(after: 0, limit: 0).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Notifications are listed newest first, page by page`(engine: Engine) async throws {
        try await engine.runHub { store in
            for sequence in [1, 2, 5, 7] as [Int64] { _ = try await store.accept(try Samples.notification(sequence)) }
            #expect(try await store.notifications(before: nil, limit: 3).map(\.sequence) == [7, 5, 2])
            #expect(try await store.notifications(before: 5, limit: 3).map(\.sequence) == [2, 1])
            #expect(try await store.notifications(before: 1, limit: 3).isEmpty)
            #expect(try await store.notification(3) == nil)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Progress replaces the previous outcome and appends devices`(engine: Engine) async throws {
        try await engine.runHub { store in
            _ = try await store.accept(try Samples.notification(1))
            var odd = Samples.device(3, outcome: .wrongToken)
            odd.device.registrationID = nil
            odd.device.installationID = Samples.oddText
            odd.device.handle = .subscription
            odd.device.platform = .browser
            odd.device.templateName = Samples.oddText
            odd.reason = Samples.oddText
            odd.cause = .text(Samples.oddText)
            odd.pushID = nil
            odd.size = .max
            odd.isRegistrationRemoved = true
            let devices =
                [Samples.device(1), Samples.device(2), odd]
                + Samples.handles.map { handle in
                    var device = Samples.device(4)
                    device.device.handle = handle
                    device.device.platform = handle.platform
                    return device
                }
            var progress = try Samples.ended(1, state: .processing, devices: Array(devices.prefix(2)))
            progress.outcome.tally.count(progress.devices)
            try await store.record(progress)
            progress = try Samples.ended(1, devices: Array(devices.dropFirst(2)))
            progress.outcome.times.startedAt = HubBench.startTime
            progress.outcome.tally.count(devices)
            progress.outcome.nearMisses = ["nearly"]
            try await store.record(progress)
            #expect(try await store.notification(1)?.outcome == progress.outcome)
            #expect(try await store.devices(ofNotification: 1, from: 0, limit: 99) == devices)
            #expect(try await store.devices(ofNotification: 1, from: 1, limit: 2) == Array(devices[1...2]))
            #expect(try await store.devices(ofNotification: 1, from: 99, limit: 2).isEmpty)
            #expect(try await store.devices(ofNotification: 2, from: 0, limit: 2).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Progress of a deleted notification is ignored`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await store.record(try Samples.ended(7, devices: [Samples.device(1)]))
            #expect(try await store.notifications(before: nil, limit: 9).isEmpty)
            _ = try await store.accept(try Samples.notification(7))
            #expect(try await store.devices(ofNotification: 7, from: 0, limit: 9).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Notifications that ended long ago are deleted oldest first, in portions, with their devices and keys`(
        engine: Engine
    ) async throws {
        try await engine.runHub { store in
            for sequence in 1...5 as ClosedRange<Int64> {
                _ = try await store.accept(try Samples.notification(sequence, key: "key-\(sequence)"))
            }
            for (sequence, seconds) in [(2, 10), (3, 30), (4, 20), (5, 5)] as [(Int64, Int64)] {
                try await store.record(try Samples.ended(sequence, after: seconds, devices: [Samples.device(1)]))
            }
            let time = HubBench.startTime + .seconds(30)
            #expect(try await store.removeEnded(before: time, limit: 2) == 2)
            #expect(try await store.notifications(before: nil, limit: 9).map(\.sequence) == [4, 3, 1])
            #expect(try await store.removeEnded(before: time, limit: 2) == 1)
            #expect(try await store.removeEnded(before: time, limit: 2) == 0)
            #expect(try await store.removeEnded(before: HubBench.startTime + .seconds(31), limit: 2) == 1)
            // An unfinished notification remains, and of the deleted ones only the last sequence is stored.
            #expect(try await store.notifications(before: nil, limit: 9).map(\.sequence) == [1])
            #expect(try await store.devices(ofNotification: 5, from: 0, limit: 9).isEmpty)
            #expect(try await store.notification(5) == nil)
            #expect(try await store.load().lastSequence == 5)
            #expect(try await store.accept(try Samples.notification(6, id: "notification-5", key: "key-5", fingerprint: 3)) == .accepted)
            #expect(try await store.load().lastSequence == 6)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Many simultaneous notifications are all stored`(engine: Engine) async throws {
        try await engine.runHub { store in
            try await withThrowingTaskGroup { group in
                for writer in 0..<64 as Range<Int64> {
                    group.addTask {
                        for index in 0..<20 as Range<Int64> {
                            let acceptance = try await store.accept(try Samples.notification(writer * 20 + index + 1))
                            #expect(acceptance == .accepted)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.unfinished(after: 0, limit: 9999).map(\.sequence) == Array(1...1280))
        }
    }
}
