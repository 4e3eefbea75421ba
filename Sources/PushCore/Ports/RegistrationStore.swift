/// Where a hub's registrations and installations lie, by their places: small numbers without gaps to speak of, that the hub
/// gives out and uses again.
///
/// Errors: `storage.unavailable` (503) where nothing could be kept; then nothing was.
package protocol RegistrationStore: Sendable {
    /// Everything that is kept, in the order of the places. Rows that mean nothing are named apart and stay where they are.
    func load() async throws(PushError) -> StoredHub
    /// The registrations that stand at these places, in the order of the places; of places where none stands there is none.
    ///
    /// Throws `storage.corrupt` where one of them cannot be read.
    func registrations(at places: [UInt32]) async throws(PushError) -> [PlacedRegistration]
    /// The same of installations, which have places of their own.
    func installations(at places: [UInt32]) async throws(PushError) -> [PlacedInstallation]
    /// Keeps all of a change or nothing; returns when it is as safe as the store can make it.
    func commit(_ change: RegistrationChange) async throws(PushError)
    /// Forgets ids of registrations that left before `moment`, at most `limit`; answers how many.
    func forgetDepartures(before moment: Timestamp, limit: Int) async throws(PushError) -> Int
}

package struct PlacedRegistration: Sendable, Equatable {
    package var place: UInt32
    package var registration: Registration

    package init(place: UInt32, registration: Registration) {
        self.place = place
        self.registration = registration
    }
}

package struct PlacedInstallation: Sendable, Equatable {
    /// Among the installations; registrations have places of their own.
    package var place: UInt32
    package var installation: Installation
    /// When it leaves: the moment its app chose, or the hub's.
    package var expiration: Timestamp

    package init(place: UInt32, installation: Installation, expiration: Timestamp) {
        self.place = place
        self.installation = installation
        self.expiration = expiration
    }
}

package struct RemovedRegistration: Sendable, Equatable {
    package var place: UInt32
    package var id: RegistrationID
    package var departure: RegistrationDeparture

    package init(place: UInt32, id: RegistrationID, departure: RegistrationDeparture) {
        self.place = place
        self.id = id
        self.departure = departure
    }
}

/// What is done first comes first: removals, then what is put in places, new or free now.
package struct RegistrationChange: Sendable, Equatable {
    package var removals: [RemovedRegistration]
    /// Places of installations that leave.
    package var installationRemovals: [UInt32]
    /// Each takes the place of what stood there. An id that had departed is back.
    package var puts: [PlacedRegistration]
    package var installationPuts: [PlacedInstallation]

    package init(
        removals: [RemovedRegistration] = [], installationRemovals: [UInt32] = [], puts: [PlacedRegistration] = [],
        installationPuts: [PlacedInstallation] = []
    ) {
        self.removals = removals
        self.installationRemovals = installationRemovals
        self.puts = puts
        self.installationPuts = installationPuts
    }

    package var isEmpty: Bool {
        removals.isEmpty && installationRemovals.isEmpty && puts.isEmpty && installationPuts.isEmpty
    }
}

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
}

/// A row of a hub that cannot be read.
package struct UnreadableRow: Sendable, Equatable {
    package enum Table: Sendable { case registrations, installations, departures }

    package var table: Table
    /// Nil where it is none, and among departures, which have none.
    package var place: UInt32?
    /// Which row it is, and what is wrong with it.
    package var reason: String

    package init(table: Table, place: UInt32?, reason: String) {
        self.table = table
        self.place = place
        self.reason = reason
    }
}
