/// The result of a push on a device, and the device's state.
package struct DeviceResult: Sendable, Equatable {
    package struct Event: Sendable, Equatable {
        package enum Kind: Sendable, Equatable {
            case delivered
            /// Stored by the push service until the device can be reached.
            case stored
            /// Deferred until the device stops saving power.
            case deferred
            /// Replaced by the push with this id, while it waited or on the screen.
            case replaced(by: String)
            /// Expired while it waited.
            case expired
            /// Lost because the user had force-quit the app.
            case appClosed
            case appUninstalled
            /// The device was offline, and the push was sent without storage.
            case unreachable
            /// Lost for another reason.
            case dropped(String)
            case shown
        }

        package var time: Timestamp
        package var kind: Kind

        package init(time: Timestamp, kind: Kind) { (self.time, self.kind) = (time, kind) }
    }

    /// The reason why a delivered push is not shown.
    package enum Silence: Sendable, Equatable {
        case leftToApp
        case background
        case noText
    }

    package var phone: String
    /// The events of the push, in order.
    package var events: [Event]
    /// Set if the push was delivered but is not shown.
    package var silence: Silence?
    /// When the app showed a notification of its own for the push.
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
