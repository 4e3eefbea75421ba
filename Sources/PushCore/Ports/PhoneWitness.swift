/// Whoever sees what phones do with what they get: a lab, whose phones are simulated. Of real ones nobody tells.
package protocol PhoneWitness: Sendable {
    /// What became of a push on the phone that has or had this handle, and how the phone stands; nil where there is no such phone.
    ///
    /// - Parameter push: the push service's id of it, as connectors report it; nil where none went out.
    func fate(of push: String?, at handle: DeviceHandle) async -> PhoneFate?
    /// The handles of the phone with that name, those that it had before too, the latest first; none where there is no such phone.
    func handles(ofPhone name: String) async -> [DeviceHandle]
    /// For "did you mean".
    func phoneNames() async -> [String]
}

/// What became of a push on a phone, and how the phone stands.
package struct PhoneFate: Sendable, Equatable {
    package struct Event: Sendable, Equatable {
        package enum Kind: Sendable, Equatable {
            case delivered
            /// It waits at the push service until the phone can be reached.
            case stored
            /// The phone saves power: it waits for the end of that.
            case deferred
            /// By the push with this id: while it waited, or on the screen.
            case replaced(by: String)
            /// Its time ran out while it waited.
            case expired
            /// The user had closed the app for good, without which the push is nothing.
            case appClosed
            case appUninstalled
            /// The phone was away, and the push may not wait.
            case unreachable
            /// It was lost for another reason.
            case dropped(String)
            case shown
        }

        package var time: Timestamp
        package var kind: Kind

        package init(time: Timestamp, kind: Kind) { (self.time, self.kind) = (time, kind) }
    }

    /// Why something that was delivered is not shown.
    package enum Silence: Sendable, Equatable {
        case leftToApp
        case background
        case noText
    }

    package var phone: String
    /// Of the push, in order.
    package var events: [Event]
    /// Where it was delivered and is not shown.
    package var silence: Silence?
    /// When the app showed something of its own behind it.
    package var shownByApp: Timestamp?
    package var offlineSince: Timestamp?
    package var savesPowerSince: Timestamp?
    package var closedSince: Timestamp?
    package var uninstalledSince: Timestamp?

    package init(
        phone: String, events: [Event] = [], silence: Silence? = nil, shownByApp: Timestamp? = nil, offlineSince: Timestamp? = nil,
        savesPowerSince: Timestamp? = nil, closedSince: Timestamp? = nil, uninstalledSince: Timestamp? = nil
    ) {
        (self.phone, self.events, self.silence, self.shownByApp) = (phone, events, silence, shownByApp)
        (self.offlineSince, self.savesPowerSince) = (offlineSince, savesPowerSince)
        (self.closedSince, self.uninstalledSince) = (closedSince, uninstalledSince)
    }
}
