import GRDB
import PushModel
import Support
import Testing

@testable import Storage

/// Databases with one row per device and per last outcome.
@Suite struct OutcomeMigrationTests {
    private static let row = """
        INSERT INTO registration (hub, place, id, etag, expiration, updated_at, platform, handle, tags)
        VALUES (?, ?, ?, 1, ?, 0, 'apns', 'AB', '')
        """

    /// A database of the previous version, closed.
    private func old(_ folder: Folder, _ fill: @escaping @Sendable (Database) throws -> Void) async throws {
        let old = try DatabaseQueue(path: folder.file("hub.db"), configuration: SQLiteFile.configuration(readonly: false))
        try SQLiteSchema.migrator.migrate(old, upTo: "keys of secure payloads")
        try await old.write { database in
            try database.execute(sql: "PRAGMA application_id = \(SQLiteSchema.applicationID)")
            try fill(database)
        }
        try old.close()
    }

    private static func save(_ sequence: Int64, hub: Int64, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO notification (key, hub, id, request, state, is_final, enqueued_at, ended_at)
                VALUES (?, ?, 'n-' || ?, '{"everyone":true,"native":{}}', 'Completed', 1, 1, ?)
                """, arguments: [try NotificationKey(hub: hub, sequence: sequence).stored, hub, sequence, sequence])
    }

    /// Stores a device as the previous version did.
    private static func save(
        _ device: DeviceOutcome, at ordinal: Int, of sequence: Int64, hub: Int64, in database: Database
    ) throws {
        try database.run(
            """
            INSERT INTO device_outcome (hub, sequence, ordinal, registration, platform, handle_platform, handle, template,
                outcome, reason, explanation, push_id, size, is_removed, installation)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, hub, sequence, ordinal, device.registrationID?.text, device.platform.rawValue,
            device.handle.platform.rawValue, device.handle.storedText, device.templateName, device.outcome.rawValue,
            device.reason, device.explanation, device.pushID, device.size, device.isRegistrationRemoved, device.installationID)
    }

    @Test func `Devices and the removed ones among them are unchanged, and later steps add to them`() async throws {
        let folder = try Folder()
        let outcomes = RandomOutcomes(seed: 11)
        // Only handles that the old version could store: their parts had no line breaks.
        var odd = outcomes.devices(99).filter {
            (try? DeviceHandle(platform: $0.handle.platform, stored: $0.handle.storedText)) == $0.handle
        }
        for row in odd.indices {
            let device = odd[row]
            odd[row].cause = OutcomeCause(sentence: device.explanation, of: device.outcome, reason: device.reason)
        }
        let devices = [1: odd, 2: (0..<OutcomeRows.maximumDevices + 3).map { Samples.device($0) }, 4: [Samples.device(3)]]
        #expect(odd.count > 50 && odd.contains { $0.isRegistrationRemoved })
        try await old(folder) { database in
            for hub in 1...2 as ClosedRange<Int64> {
                for (sequence, devices) in devices {
                    try Self.save(Int64(sequence), hub: hub, in: database)
                    for (ordinal, device) in devices.enumerated() {
                        try Self.save(device, at: ordinal, of: Int64(sequence), hub: hub, in: database)
                    }
                }
                try Self.save(3, hub: hub, in: database)
            }
        }
        let storage = try await SQLiteStorage.open(folder.file("hub.db"))
        for hub in 1...2 as ClosedRange<Int64> {
            let store = storage.namespace.store(ofHub: hub)
            for (sequence, devices) in devices {
                #expect(try await store.devices(ofNotification: Int64(sequence), from: 0, limit: .max) == devices)
                #expect(
                    try await store.devices(ofNotification: Int64(sequence), from: 7, limit: 5) == Array(devices.dropFirst(7).prefix(5)))
            }
            let removed = try await store.removedDevices(after: nil, limit: .max)
            let expected = devices.sorted { $0.key > $1.key }.flatMap { sequence, devices in
                devices.enumerated().reversed().filter { $1.isRegistrationRemoved }.map { (Int64(sequence), Int64($0), $1) }
            }
            #expect(removed.map(\.position) == expected.map { RemovedDevice.Position(sequence: $0.0, ordinal: $0.1) })
            #expect(removed.map(\.device) == expected.map(\.2))
            try await store.record(try Samples.ended(4, devices: [Samples.device(9)]))
            #expect(try await store.devices(ofNotification: 4, from: 0, limit: 9) == devices[4, default: []] + [Samples.device(9)])
            #expect(try await store.removeEnded(before: .distantFuture, limit: 9) == 4)
            #expect(try await store.devices(ofNotification: 2, from: 0, limit: 9).isEmpty)
        }
        try await storage.close()
    }

    @Test func `An unreadable device and its neighbours keep their numbers`() async throws {
        let folder = try Folder()
        try await old(folder) { database in
            try Self.save(1, hub: 1, in: database)
            // The first ones had already been removed when the process ended.
            for number in 5..<9 { try Self.save(Samples.device(number), at: number, of: 1, hub: 1, in: database) }
            try database.execute(sql: "UPDATE device_outcome SET outcome = 'Lost' WHERE ordinal = 6")
        }
        let storage = try await SQLiteStorage.open(folder.file("hub.db"))
        let store = storage.namespace.store(ofHub: 1)
        #expect(try await store.devices(ofNotification: 1, from: 5, limit: 1) == [Samples.device(5)])
        let error = await refusal { try await store.devices(ofNotification: 1, from: 5, limit: 2) }
        #expect(error?.code == "storage.corrupt")
        #expect(error?.message == "the devices from 6 on of notification 1 of hub 1 cannot be read: 0 bytes are not a batch of outcomes")
        #expect(try await store.devices(ofNotification: 1, from: 7, limit: 9) == [Samples.device(7), Samples.device(8)])
        #expect(try await store.removeEnded(before: .distantFuture, limit: 9) == 1)
        try await storage.close()
    }

    @Test func `Last outcomes are unchanged, and an unreadable one is left out`() async throws {
        let folder = try Folder()
        let kept: [(hub: Int, row: Int64, outcome: String)] = [
            (1, 0, "Success"), (1, 1, "WrongToken"), (1, 1023, "Dropped"), (1, 1024, "Lost"), (1, 70_000, "Throttled"),
            (2, 0, "Skipped"), (2, Int64(UInt32.max), "Success"),
        ]
        try await old(folder) { database in
            for (hub, row, outcome) in kept {
                try database.execute(sql: Self.row, arguments: [hub, row, "\(hub)-\(row)-1", Int64.max])
                try database.execute(sql: "INSERT INTO last_outcome VALUES (?, ?, ?)", arguments: [hub, row, outcome])
            }
        }
        let storage = try await SQLiteStorage.open(folder.file("hub.db"))
        let (first, second) = (try await storage.namespace.store(ofHub: 1).load(), try await storage.namespace.store(ofHub: 2).load())
        #expect(first.registrations.count == 5 && first.unreadable.isEmpty)
        #expect(first.lastOutcomes == [0: .success, 1: .wrongToken, 1023: .dropped, 70_000: .throttled])
        #expect(second.lastOutcomes == [0: .skipped, .max: .success])
        try await storage.close()
    }
}
