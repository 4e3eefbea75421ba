import PushModel
import Support
import Testing

@testable import Storage

/// Results of devices, recorded in steps and read in pages.
@Suite struct DeviceOutcomeTests {
    @Test(arguments: Engine.allCases, 0..<8 as Range<UInt64>)
    func `Any page of the results is as recorded, and so are the removed devices`(engine: Engine, seed: UInt64) async throws {
        let outcomes = RandomOutcomes(seed: seed)
        try await engine.runHub { store in
            var recorded: [Int64: [DeviceOutcome]] = [:]
            for sequence in 1...4 as ClosedRange<Int64> { _ = try await store.accept(try Samples.notification(sequence)) }
            for step in 0..<24 {
                let sequence = Int64(1 + outcomes.number(below: 4))
                let devices = outcomes.devices(outcomes.oneIn(4) ? 0 : outcomes.number(below: 40))
                let progress = try Samples.ended(sequence, after: Int64(step), state: .processing, devices: devices)
                try await store.record(progress)
                recorded[sequence, default: []] += devices
            }
            for _ in 0..<60 {
                let (sequence, start, limit) = (
                    Int64(1 + outcomes.number(below: 4)), outcomes.number(below: 150), outcomes.number(below: 60)
                )
                let page = try await store.devices(ofNotification: sequence, from: start, limit: limit)
                #expect(page == Array(recorded[sequence, default: []].dropFirst(start).prefix(limit)))
            }
            let removed = recorded.sorted { $0.key > $1.key }.flatMap { sequence, devices in
                devices.enumerated().reversed().filter { $1.isRegistrationRemoved }.map { ($0, $1, sequence) }
            }
            for limit in [1, 7, 1000] {
                var found: [RemovedDevice] = []
                while true {
                    let page = try await store.removedDevices(after: found.last?.position, limit: limit)
                    found += page
                    if page.count < limit { break }
                }
                #expect(found.map(\.device) == removed.map(\.1))
                #expect(found.map(\.position) == removed.map { RemovedDevice.Position(sequence: $0.2, ordinal: Int64($0.0)) })
                #expect(found.allSatisfy { $0.notificationID == "notification-\($0.position.sequence)" })
            }
            #expect(try await store.removedDevices(after: nil, limit: 0).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases, 0..<4 as Range<UInt64>)
    func `A device is found by each of its ids, with the time of its verdict`(engine: Engine, seed: UInt64)
        async throws
    {
        let outcomes = RandomOutcomes(seed: seed)
        try await engine.runHub { store in
            var recorded: [(device: DeviceOutcome, time: Timestamp)] = []
            for sequence in 1...2 as ClosedRange<Int64> { _ = try await store.accept(try Samples.notification(sequence)) }
            // More steps than are read at once.
            for step in 0..<40 {
                let time = HubBench.startTime + .seconds(step)
                var batch = OutcomeBatch()
                batch.mark(time)
                let devices = outcomes.devices(outcomes.number(below: 9))
                for device in devices { batch.append(device) }
                var progress = try Samples.ended(1, after: Int64(step), state: .processing, devices: [])
                progress.devices = batch
                try await store.record(progress)
                try await store.record(try Samples.ended(2, after: Int64(step), state: .processing, devices: outcomes.devices(3)))
                recorded += devices.map { ($0, time) }
            }
            func check(_ query: DeviceOutcomeQuery) async throws {
                let expected = recorded.filter { query.matches($0.device) }.map { RecordedOutcome(device: $0.device, time: $0.time) }
                #expect(try await store.outcomes(ofNotification: 1, matching: query, limit: .max) == expected)
                #expect(try await store.outcomes(ofNotification: 1, matching: query, limit: 1) == Array(expected.prefix(1)))
            }
            for (device, _) in recorded {
                try await check(DeviceOutcomeQuery(handles: [device.handle]))
                if let id = device.registrationID { try await check(DeviceOutcomeQuery(registrations: [id])) }
                if let id = device.installationID { try await check(DeviceOutcomeQuery(installation: id)) }
                if let id = device.pushID { try await check(DeviceOutcomeQuery(push: DeviceOutcomeQuery.pushKey(id))) }
            }
            try await check(DeviceOutcomeQuery(installation: "unknown"))
            #expect(try await store.outcomes(ofNotification: 1, matching: nil, limit: .max).map(\.device) == recorded.map(\.device))
            #expect(try await store.outcomes(ofNotification: 3, matching: nil, limit: .max).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `Results are counted by kind, with an example of each`(engine: Engine) async throws {
        try await engine.runHub { store in
            _ = try await store.accept(try Samples.notification(1))
            for step in 0..<20 {
                let devices = (0..<9).map { Samples.device(step * 9 + $0, outcome: $0 < 2 ? .wrongToken : .success) }
                try await store.record(try Samples.ended(1, after: Int64(step), state: .processing, devices: devices))
            }
            let tally = try await store.tally(ofNotification: 1)
            let counts = Dictionary(uniqueKeysWithValues: tally.counts.map { ($0.key.outcome, $0.value) })
            #expect(counts.mapValues(\.devices) == [.wrongToken: 40, .success: 140] && tally.others == 0)
            #expect(counts[.wrongToken]?.example.device == Samples.device(0, outcome: .wrongToken))
            #expect(counts[.success]?.example.device == Samples.device(2))
            #expect(try await store.tally(ofNotification: 2).counts.isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func `One step may have more devices than fit in a row`(engine: Engine) async throws {
        let count = 2 * OutcomeRows.maximumDevices + 1
        try await engine.runHub { store in
            _ = try await store.accept(try Samples.notification(1))
            var devices = (0..<count).map { Samples.device($0) }
            devices[count - 2].isRegistrationRemoved = true
            try await store.record(try Samples.ended(1, state: .processing, devices: devices))
            try await store.record(try Samples.ended(1, devices: [Samples.device(count)]))
            devices.append(Samples.device(count))
            #expect(try await store.devices(ofNotification: 1, from: 0, limit: .max) == devices)
            #expect(
                try await store.devices(ofNotification: 1, from: OutcomeRows.maximumDevices - 1, limit: 2)
                    == Array(devices[(OutcomeRows.maximumDevices - 1)...].prefix(2)))
            #expect(try await store.devices(ofNotification: 1, from: count, limit: 9) == [Samples.device(count)])
            #expect(try await store.removedDevices(after: nil, limit: 9).map(\.position.ordinal) == [Int64(count) - 2])
        }
    }

    @Test(arguments: Engine.allCases, 0..<4 as Range<UInt64>)
    func `Last outcomes belong to the registrations that are in the rows now`(engine: Engine, seed: UInt64) async throws {
        let outcomes = RandomOutcomes(seed: seed)
        try await engine.runHub { store in
            _ = try await store.accept(try Samples.notification(1))
            // Adjacent rows, rows at the ends of blocks, and distant ones.
            let rows: [UInt32] = [0, 1, 2, 1022, 1023, 1024, 1025, 5000, .max - 1, .max]
            var standing: [UInt32: (number: Int, last: OutcomeName?)] = [:]
            for step in 1...120 {
                let row = outcomes.pick(rows)
                switch (outcomes.number(below: 4), standing[row]) {
                case (0, let before?):
                    try await store.commit(RegistrationChange(removals: [Samples.removal(row, before.number)]))
                    standing[row] = nil
                case (1, let before?):
                    try await store.commit(RegistrationChange(puts: [Samples.put(row, before.number, etag: step)]))
                case (1, nil), (0, nil):
                    try await store.commit(RegistrationChange(puts: [Samples.put(row, step)]))
                    standing[row] = (step, nil)
                default:
                    var progress: [UInt32: OutcomeName] = [:]
                    for _ in 0..<5 { progress[outcomes.pick(rows)] = outcomes.pick(OutcomeName.allCases) }
                    try await store.record(try Samples.ended(1, state: .processing, lastOutcomes: progress))
                    for (row, outcome) in progress { standing[row]?.last = outcome }
                }
                #expect(try await store.load().lastOutcomes == standing.compactMapValues(\.last))
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `A hub has its own outcomes, and removing it removes them`(engine: Engine) async throws {
        try await engine.run { storage in
            var device = Samples.device(1)
            device.isRegistrationRemoved = true
            for number in 1...3 as ClosedRange<Int64> {
                try await storage.namespace.putHub(Samples.hub(number))
                let store = storage.namespace.store(ofHub: number)
                try await store.commit(RegistrationChange(puts: [Samples.put(7, Int(number))]))
                _ = try await store.accept(try Samples.notification(1))
                for _ in 0..<40 {
                    device.size += 1
                    try await store.record(try Samples.ended(1, devices: [device], lastOutcomes: [7: .throttled]))
                }
            }
            try await storage.namespace.removeHub(2)
            for number in [1, 3] as [Int64] {
                let store = storage.namespace.store(ofHub: number)
                #expect(try await store.devices(ofNotification: 1, from: 0, limit: 99).count == 40)
                #expect(try await store.removedDevices(after: nil, limit: 99).count == 40)
                #expect(try await store.load().lastOutcomes == [7: .throttled])
            }
            let gone = storage.namespace.store(ofHub: 2)
            #expect(try await gone.devices(ofNotification: 1, from: 0, limit: 99).isEmpty)
            #expect(try await gone.removedDevices(after: nil, limit: 99).isEmpty)
            // A new registration in the same row gets none of it.
            try await gone.commit(RegistrationChange(puts: [Samples.put(7, 7)]))
            #expect(try await gone.load().lastOutcomes.isEmpty)
        }
    }
}
