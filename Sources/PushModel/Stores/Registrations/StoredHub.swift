/// All stored data of a hub in memory: only for hubs of a few thousand devices.
package struct StoredHub: Sendable, Equatable {
    package var registrations: [RegistrationRow]
    package var installations: [InstallationRow]
    package var tombstones: [RegistrationID: RegistrationTombstone]
    /// The outcome of the last push to a registration, by row. Registrations without a push have none.
    package var lastOutcomes: [UInt32: OutcomeName]
    /// The largest sequence that a notification ever had; 0 if there never was one.
    package var lastSequence: Int64
    /// Rows that are unreadable. The hub is loaded without them and does not reuse their row numbers.
    package var unreadable: [UnreadableRow]

    package init(
        registrations: [RegistrationRow] = [], installations: [InstallationRow] = [],
        tombstones: [RegistrationID: RegistrationTombstone] = [:], lastOutcomes: [UInt32: OutcomeName] = [:],
        lastSequence: Int64 = 0, unreadable: [UnreadableRow] = []
    ) {
        self.registrations = registrations
        self.installations = installations
        self.tombstones = tombstones
        self.lastOutcomes = lastOutcomes
        self.lastSequence = lastSequence
        self.unreadable = unreadable
    }

    /// Passes all data to a reader, as a store does.
    package func read(into reader: inout some StoredHubReader) {
        reader.expect(registrationsBelow: registrations.reduce(0) { max($0, $1.row &+ 1) })
        for placed in installations {
            do throws(PushError) {
                try reader.add(placed)
            } catch {
                reader.add(UnreadableRow(table: .installations, row: placed.row, reason: error.message))
            }
        }
        for placed in registrations {
            do throws(PushError) {
                try reader.add(placed)
            } catch {
                reader.add(UnreadableRow(table: .registrations, row: placed.row, reason: error.message))
            }
        }
        for (rowNumber, outcome) in lastOutcomes { reader.add(outcome, at: rowNumber) }
        for (id, tombstone) in tombstones { reader.add(tombstone, of: id) }
        for row in unreadable { reader.add(row) }
        reader.end(lastSequence: lastSequence)
    }
}

extension StoredHub: StoredHubReader {
    package func expect(registrationsBelow end: UInt32) {}

    package mutating func add(_ installation: InstallationRow) { installations.append(installation) }

    package mutating func add(_ registration: StoredRegistration, fullRegistration: () throws(PushError) -> Registration) throws(PushError)
    {
        registrations.append(RegistrationRow(row: registration.row, registration: try fullRegistration()))
    }

    package mutating func add(_ registration: RegistrationRow) { registrations.append(registration) }

    package mutating func add(_ outcome: OutcomeName, at rowNumber: UInt32) { lastOutcomes[rowNumber] = outcome }

    package mutating func add(_ tombstone: RegistrationTombstone, of id: RegistrationID) { tombstones[id] = tombstone }

    package mutating func add(_ row: UnreadableRow) { unreadable.append(row) }

    package mutating func end(lastSequence: Int64) { self.lastSequence = lastSequence }
}

extension RegistrationStore {
    /// All stored data, in row order.
    package func load() async throws(PushError) -> StoredHub { try await load(into: StoredHub()) }
}
