/// An action of a script on a simulated device.
package enum DeviceAction: Sendable, Equatable {
    case goOffline
    case goOnline
    /// The device saves power (iOS Low Power Mode, Android's Doze, a battery saver) and defers pushes that are not urgent.
    case enterLowPower
    case leaveLowPower
    /// The user swipes the app away (iOS) or stops it (Android).
    case forceQuit
    case launch
    case rotateToken
    case uninstall
    case reinstall
    /// The app shows a notification of its own.
    case show(title: String, body: String)
    /// From now on the app handles background and data pushes itself; the system shows nothing for them.
    case handlePushes
}
