/// Takes in what a store has of a hub, from wherever the store reads, a row after the other.
///
/// What it throws of a row makes that row unreadable; the store goes on with the next one.
package protocol StoredHubReader: Sendable {
    /// Registrations are to come whose places are below `end`, in the order of their places if it is to be fast.
    mutating func expect(registrationsBelow end: UInt32)
    mutating func add(_ installation: PlacedInstallation) throws(PushError)
    /// - Parameter whole: gives all of it, the template compiled.
    mutating func add(_ registration: StoredRegistration, whole: () throws(PushError) -> Registration) throws(PushError)
    /// The same of a whole one.
    mutating func add(_ registration: PlacedRegistration) throws(PushError)
    /// How the last push to a registration ended; of those that no push has reached nothing is said.
    mutating func add(_ outcome: OutcomeName, at place: UInt32)
    mutating func add(_ departure: RegistrationDeparture, of id: RegistrationID)
    /// Whoever loads a hub goes on without it, and leaves its place to it.
    mutating func add(_ row: UnreadableRow)
    /// The largest sequence that a notification ever had; 0 before the first one.
    mutating func end(lastSequence: Int64)
}

/// A registration as it lies in a store: what a hub holds of it, its texts as bytes that are there as long as the reader's call
/// lasts.
package struct StoredRegistration {
    package let place: UInt32
    package let id: UnsafeRawBufferPointer
    package let platform: Platform
    /// As one text; the parts of a browser's subscription and of a Baidu handle are lines.
    package let handle: UnsafeRawBufferPointer
    /// With commas between them.
    package let tags: UnsafeRawBufferPointer
    /// The same for registrations with the same template; nil for one without.
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

/// All that a store has of a hub, in whole rows: for hubs of a few thousand devices.
package struct StoredHub: Sendable, Equatable {
    package var registrations: [PlacedRegistration]
    package var installations: [PlacedInstallation]
    package var departures: [RegistrationID: RegistrationDeparture]
    /// How the last push to a registration ended, by place; of those that no push has reached there is none.
    package var lastOutcomes: [UInt32: OutcomeName]
    /// The largest that a notification ever had; 0 before the first one.
    package var lastSequence: Int64
    /// Rows that cannot be read. Whoever loads a hub goes on without them, and leaves their places to them.
    package var unreadable: [UnreadableRow]

    package init(
        registrations: [PlacedRegistration] = [], installations: [PlacedInstallation] = [],
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

    /// Hands all of it to a reader, as a store does.
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

    package mutating func add(_ installation: PlacedInstallation) { installations.append(installation) }

    package mutating func add(_ registration: StoredRegistration, whole: () throws(PushError) -> Registration) throws(PushError) {
        registrations.append(PlacedRegistration(place: registration.place, registration: try whole()))
    }

    package mutating func add(_ registration: PlacedRegistration) { registrations.append(registration) }

    package mutating func add(_ outcome: OutcomeName, at place: UInt32) { lastOutcomes[place] = outcome }

    package mutating func add(_ departure: RegistrationDeparture, of id: RegistrationID) { departures[id] = departure }

    package mutating func add(_ row: UnreadableRow) { unreadable.append(row) }

    package mutating func end(lastSequence: Int64) { self.lastSequence = lastSequence }
}

extension RegistrationStore {
    /// Everything that is kept, in the order of the places.
    package func load() async throws(PushError) -> StoredHub { try await load(into: StoredHub()) }
}

/// A row of a hub that cannot be read.
package struct UnreadableRow: Sendable, Equatable {
    package enum Table: Sendable { case registrations, installations, departures, heldRemovals }

    package var table: Table
    /// Nil where it is none, and in tables without places: departures and held removals.
    package var place: UInt32?
    /// Which row it is, and what is wrong with it.
    package var reason: String

    package init(table: Table, place: UInt32?, reason: String) {
        self.table = table
        self.place = place
        self.reason = reason
    }
}
