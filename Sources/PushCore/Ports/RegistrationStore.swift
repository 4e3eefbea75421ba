/// Where a hub's registrations and installations lie, by their places: small numbers without gaps to speak of, that the hub
/// gives out and uses again.
///
/// Errors: `storage.unavailable` (503) where nothing could be kept; then nothing was.
package protocol RegistrationStore: Sendable {
    /// Hands everything that is kept to a reader: installations in the order of their places, registrations likewise, then the rest.
    /// Rows that mean nothing are named apart and stay where they are. Answers the reader.
    func load<Reader: StoredHubReader>(into reader: Reader) async throws(PushError) -> Reader
    /// The registrations that stand at these places, in the order of the places; of places where none stands there is none.
    ///
    /// Throws `storage.corrupt` where one of them cannot be read.
    func registrations(at places: [UInt32]) async throws(PushError) -> [PlacedRegistration]
    /// The same of installations, which have places of their own.
    func installations(at places: [UInt32]) async throws(PushError) -> [PlacedInstallation]
    /// The tags of the registrations behind a place, of all for nil, in the order of the places: of `limit` registrations at most.
    ///
    /// What is no tag is left out.
    func tags(behind place: UInt32?, limit: Int) async throws(PushError) -> [PlacedTags]
    /// Keeps all of a change or nothing; returns when it is as safe as the store can make it.
    func commit(_ change: RegistrationChange) async throws(PushError)
    /// Registrations of an installation, or with a handle, that left and whose departures are not forgotten, the latest first.
    ///
    /// Of those that left before that was kept nothing is known but their ids.
    func departed(_ subject: DepartedSubject, limit: Int) async throws(PushError) -> [DepartedRegistration]
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

package struct PlacedTags: Sendable, Equatable {
    package var place: UInt32
    package var tags: [Tag]

    package init(place: UInt32, tags: [Tag]) {
        self.place = place
        self.tags = tags
    }
}

/// Whose registrations are looked for among those that left.
package enum DepartedSubject: Sendable, Equatable {
    case installation(String)
    case handle(DeviceHandle)
    case registration(RegistrationID)
}

package struct DepartedRegistration: Sendable, Equatable {
    package var id: RegistrationID
    package var departure: RegistrationDeparture
    package var handle: DeviceHandle
    /// When it was to expire.
    package var expiration: Timestamp
    /// For which it stood.
    package var installationID: String?

    package init(
        id: RegistrationID, departure: RegistrationDeparture, handle: DeviceHandle, expiration: Timestamp, installationID: String?
    ) {
        (self.id, self.departure, self.handle) = (id, departure, handle)
        (self.expiration, self.installationID) = (expiration, installationID)
    }

    /// When it was of no use any more: one that expires is found to have some time later.
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

/// What is done first comes first: removals, then what is put in places, new or free now.
package struct RegistrationChange: Sendable, Equatable {
    package var removals: [RemovedRegistration]
    /// Places of installations that leave.
    package var installationRemovals: [UInt32]
    /// Each takes the place of what stood there. An id that had departed is back.
    package var puts: [PlacedRegistration]
    package var installationPuts: [PlacedInstallation]
    /// Those of the removals, and of the channels of installations, that are kept aside.
    package var pruned: [PrunedDevice] = []
    /// Numbers of those that were aside and are back with the puts.
    package var restored: [Int64] = []
    /// When that is.
    package var restoredAt: Timestamp?
    /// Handles whose held removals this change settles: it removes their devices, or their apps have registered them again.
    package var settledRemovals: [DeviceHandle] = []
    /// What flows are to hear of it.
    package var events: [HubEvent] = []

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
