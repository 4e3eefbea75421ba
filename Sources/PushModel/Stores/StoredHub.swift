/// Receives the stored data of a hub row by row, on the store's own thread or queue.
///
/// If it throws for a row, the store reports that row as unreadable and continues with the next.
package protocol StoredHubReader: Sendable {
    /// Announces registrations in rows below `end`. Reading is fastest if they arrive in row order.
    mutating func expect(registrationsBelow end: UInt32)
    mutating func add(_ installation: InstallationRow) throws(PushError)
    /// - Parameter whole: makes the full registration, with its template compiled.
    mutating func add(_ registration: StoredRegistration, whole: () throws(PushError) -> Registration) throws(PushError)
    /// Adds a full registration.
    mutating func add(_ registration: RegistrationRow) throws(PushError)
    /// Adds the outcome of the last push to a registration. Not called for registrations without a push.
    mutating func add(_ outcome: OutcomeName, at place: UInt32)
    mutating func add(_ departure: RegistrationDeparture, of id: RegistrationID)
    /// Reports an unreadable row. The hub is loaded without it and does not reuse its row number.
    mutating func add(_ row: UnreadableRow)
    /// The last call. `lastSequence` is the largest sequence that a notification ever had; 0 if there never was one.
    mutating func end(lastSequence: Int64)
}

/// A stored registration as its columns. The buffers are valid only during the reader's call.
package struct StoredRegistration {
    package let place: UInt32
    package let id: UnsafeRawBufferPointer
    package let platform: Platform
    /// The handle as one text; the parts of a browser's subscription or a Baidu handle are separated by line breaks.
    package let handle: UnsafeRawBufferPointer
    /// Separated by commas.
    package let tags: UnsafeRawBufferPointer
    /// The same for registrations with the same template; nil without a template.
    package let templateKey: Int64?
    package let pushVariables: [String: String]
    package let installationID: String?
    package let expiration: Timestamp

    package init(
        place: UInt32, id: UnsafeRawBufferPointer, platform: Platform, handle: UnsafeRawBufferPointer, tags: UnsafeRawBufferPointer,
        templateKey: Int64?, pushVariables: [String: String], installationID: String?, expiration: Timestamp
    ) {
        self.place = place
        self.id = id
        self.platform = platform
        self.handle = handle
        self.tags = tags
        self.templateKey = templateKey
        self.pushVariables = pushVariables
        self.installationID = installationID
        self.expiration = expiration
    }
}

/// All stored data of a hub in memory: only for hubs of a few thousand devices.
package struct StoredHub: Sendable, Equatable {
    package var registrations: [RegistrationRow]
    package var installations: [InstallationRow]
    package var departures: [RegistrationID: RegistrationDeparture]
    /// The outcome of the last push to a registration, by row. Registrations without a push have none.
    package var lastOutcomes: [UInt32: OutcomeName]
    /// The largest sequence that a notification ever had; 0 if there never was one.
    package var lastSequence: Int64
    /// Rows that are unreadable. The hub is loaded without them and does not reuse their row numbers.
    package var unreadable: [UnreadableRow]

    package init(
        registrations: [RegistrationRow] = [], installations: [InstallationRow] = [],
        departures: [RegistrationID: RegistrationDeparture] = [:], lastOutcomes: [UInt32: OutcomeName] = [:],
        lastSequence: Int64 = 0, unreadable: [UnreadableRow] = []
    ) {
        self.registrations = registrations
        self.installations = installations
        self.departures = departures
        self.lastOutcomes = lastOutcomes
        self.lastSequence = lastSequence
        self.unreadable = unreadable
    }

    /// Passes all data to a reader, as a store does.
    package func read(into reader: inout some StoredHubReader) {
        reader.expect(registrationsBelow: registrations.reduce(0) { max($0, $1.place &+ 1) })
        for placed in installations {
            do throws(PushError) {
                try reader.add(placed)
            } catch {
                reader.add(UnreadableRow(table: .installations, place: placed.place, reason: error.message))
            }
        }
        for placed in registrations {
            do throws(PushError) {
                try reader.add(placed)
            } catch {
                reader.add(UnreadableRow(table: .registrations, place: placed.place, reason: error.message))
            }
        }
        for (place, outcome) in lastOutcomes { reader.add(outcome, at: place) }
        for (id, departure) in departures { reader.add(departure, of: id) }
        for row in unreadable { reader.add(row) }
        reader.end(lastSequence: lastSequence)
    }
}

extension StoredHub: StoredHubReader {
    package func expect(registrationsBelow end: UInt32) {}

    package mutating func add(_ installation: InstallationRow) { installations.append(installation) }

    package mutating func add(_ registration: StoredRegistration, whole: () throws(PushError) -> Registration) throws(PushError) {
        registrations.append(RegistrationRow(place: registration.place, registration: try whole()))
    }

    package mutating func add(_ registration: RegistrationRow) { registrations.append(registration) }

    package mutating func add(_ outcome: OutcomeName, at place: UInt32) { lastOutcomes[place] = outcome }

    package mutating func add(_ departure: RegistrationDeparture, of id: RegistrationID) { departures[id] = departure }

    package mutating func add(_ row: UnreadableRow) { unreadable.append(row) }

    package mutating func end(lastSequence: Int64) { self.lastSequence = lastSequence }
}

extension RegistrationStore {
    /// All stored data, in row order.
    package func load() async throws(PushError) -> StoredHub { try await load(into: StoredHub()) }
}

/// A stored row of a hub that is unreadable.
package struct UnreadableRow: Sendable, Equatable {
    package enum Table: Sendable { case registrations, installations, departures, heldRemovals }

    package var table: Table
    /// Nil if the row number itself is invalid, and for tables without row numbers: departures and held removals.
    package var place: UInt32?
    /// Which row it is, and what is wrong with it.
    package var reason: String

    package init(table: Table, place: UInt32?, reason: String) {
        self.table = table
        self.place = place
        self.reason = reason
    }
}
