/// What became of those that were to be brought back, or what would.
package struct Restoration: Sendable, Equatable {
    package var restored = 0
    /// The app has registered the device again since.
    package var registeredAgain = 0
    /// The installation was deleted since, or it or the registration would have expired.
    package var gone = 0
    /// The installation is none as it is kept: it stays as it is, and its device aside.
    package var unfit = 0

    package init(restored: Int = 0, registeredAgain: Int = 0, gone: Int = 0, unfit: Int = 0) {
        (self.restored, self.registeredAgain, self.gone, self.unfit) = (restored, registeredAgain, gone, unfit)
    }

    static func += (sum: inout Restoration, part: Restoration) {
        sum.restored += part.restored
        sum.registeredAgain += part.registeredAgain
        sum.gone += part.gone
        sum.unfit += part.unfit
    }
}
