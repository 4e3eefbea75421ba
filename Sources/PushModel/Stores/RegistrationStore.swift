/// Stores a hub's registrations and installations by row: small numbers, almost without gaps, that the hub assigns and reuses.
///
/// Errors: `storage.unavailable` (503) if nothing was stored.
package protocol RegistrationStore: Sendable {
    /// Passes all stored data to a reader: installations in row order, registrations in row order, then the rest. Unreadable rows are
    /// reported to the reader and left unchanged. Returns the reader.
    func load<Reader: StoredHubReader>(into reader: Reader) async throws(PushError) -> Reader
    /// The registrations in these rows, in row order. Empty rows are skipped.
    ///
    /// Throws `storage.corrupt` if one of them is unreadable.
    func registrations(at places: [UInt32]) async throws(PushError) -> [RegistrationRow]
    /// The installations in these rows, in row order. They have their own row numbers.
    func installations(at places: [UInt32]) async throws(PushError) -> [InstallationRow]
    /// The tags of at most `limit` registrations, in row order: those after a row, or from the first if nil.
    ///
    /// Invalid tags are left out.
    func tags(behind place: UInt32?, limit: Int) async throws(PushError) -> [TagsRow]
    /// Stores a change in one transaction. Returns when it is as durable as the store can make it.
    func commit(_ change: RegistrationChange) async throws(PushError)
    /// Removed registrations of an installation or with a handle, latest first, as long as their departures are stored.
    ///
    /// For registrations removed by versions that did not store this, only the ids are known.
    func departed(_ subject: DepartedSubject, limit: Int) async throws(PushError) -> [DepartedRegistration]
    /// Deletes the ids of at most `limit` registrations removed before `time`. Returns their number.
    func forgetDepartures(before time: Timestamp, limit: Int) async throws(PushError) -> Int
}

package struct RegistrationRow: Sendable, Equatable {
    package var place: UInt32
    package var registration: Registration

    package init(place: UInt32, registration: Registration) {
        self.place = place
        self.registration = registration
    }
}

package struct InstallationRow: Sendable, Equatable {
    /// The installation's row; registrations have their own row numbers.
    package var place: UInt32
    package var installation: Installation
    /// When the installation is removed: the time that its app chose, or the hub's.
    package var expiration: Timestamp

    package init(place: UInt32, installation: Installation, expiration: Timestamp) {
        self.place = place
        self.installation = installation
        self.expiration = expiration
    }
}

package struct TagsRow: Sendable, Equatable {
    package var place: UInt32
    package var tags: [Tag]

    package init(place: UInt32, tags: [Tag]) {
        self.place = place
        self.tags = tags
    }
}

/// Selects removed registrations.
package enum DepartedSubject: Sendable, Equatable {
    case installation(String)
    case handle(DeviceHandle)
    case registration(RegistrationID)
}

package struct DepartedRegistration: Sendable, Equatable {
    package var id: RegistrationID
    package var departure: RegistrationDeparture
    package var handle: DeviceHandle
    /// When it would have expired.
    package var expiration: Timestamp
    /// The installation that it represented.
    package var installationID: String?

    package init(
        id: RegistrationID, departure: RegistrationDeparture, handle: DeviceHandle, expiration: Timestamp, installationID: String?
    ) {
        (self.id, self.departure, self.handle) = (id, departure, handle)
        (self.expiration, self.installationID) = (expiration, installationID)
    }

    /// When it stopped being usable. An expired registration is removed some time after its expiration.
    package var time: Timestamp { departure.reason == .expired ? min(departure.time, expiration) : departure.time }
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

/// A change of registrations and installations. Removals are applied first, then puts, which may reuse the freed rows.
package struct RegistrationChange: Sendable, Equatable {
    package var removals: [RemovedRegistration]
    /// Rows of removed installations.
    package var installationRemovals: [UInt32]
    /// Each replaces its row's content. A removed id that occurs here is in use again.
    package var puts: [RegistrationRow]
    package var installationPuts: [InstallationRow]
    /// Pruned devices to store, for those of the removals and expired channels that can be restored.
    package var pruned: [PrunedDevice] = []
    /// Numbers of pruned devices that the puts restore.
    package var restored: [Int64] = []
    /// The time of the restoration.
    package var restoredAt: Timestamp?
    /// Handles whose held removals this change settles: it removes their devices, or their apps have registered them again.
    package var settledRemovals: [DeviceHandle] = []
    /// Events to store for flows.
    package var events: [HubEvent] = []

    package init(
        removals: [RemovedRegistration] = [], installationRemovals: [UInt32] = [], puts: [RegistrationRow] = [],
        installationPuts: [InstallationRow] = []
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
