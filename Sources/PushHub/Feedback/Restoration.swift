import PushModel

/// The result of restoring pruned devices, or of a dry run.
package struct Restoration: Sendable, Equatable {
    package var restored = 0
    /// Devices that the app has registered again.
    package var registeredAgain = 0
    /// Devices whose installation was deleted, or whose registration or installation would have expired.
    package var unrestorable = 0
    /// Devices whose stored installation is invalid; it is left unchanged, and they stay pruned.
    package var unfit = 0

    package init(restored: Int = 0, registeredAgain: Int = 0, unrestorable: Int = 0, unfit: Int = 0) {
        (self.restored, self.registeredAgain, self.unrestorable, self.unfit) = (restored, registeredAgain, unrestorable, unfit)
    }

    static func += (sum: inout Restoration, part: Restoration) {
        sum.restored += part.restored
        sum.registeredAgain += part.registeredAgain
        sum.unrestorable += part.unrestorable
        sum.unfit += part.unfit
    }
}
