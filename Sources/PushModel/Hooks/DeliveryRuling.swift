/// The treatment of some devices of a group, instead of receiving the notification now.
package struct DeliveryRuling: Sendable, Equatable {
    package enum Devices: Sendable, Equatable {
        case all
        case tagged(Tag)
        /// Devices with these numbers.
        case chosen([UInt32])
    }

    package enum Decision: Sendable, Equatable {
        /// The devices do not receive it.
        case skip
        /// The devices receive it at that time, at most seven days ahead, unless a hook called then rules otherwise.
        case hold(until: Timestamp)
        /// Exempts the devices from the rulings after this one in the list. Other hooks may still rule about them.
        case pass
    }

    package var devices: Devices
    package var decision: Decision
    /// The cause of the outcome.
    package let reason: HookReason

    package init(devices: Devices, decision: Decision, plugin: String? = nil, reason: String) {
        self.devices = devices
        self.decision = decision
        self.reason = HookReason(plugin: plugin, reason: reason)
    }
}
