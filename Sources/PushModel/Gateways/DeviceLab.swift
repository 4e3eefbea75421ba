/// Simulated devices that scripts control, in this process or in a server's lab.
package protocol DeviceLab: Sendable {
    /// Adds a device that is switched on and has the app installed. Throws `device.exists` for a name in use.
    func addDevice(_ description: DeviceDescription) async throws(PushError) -> DeviceID
    func device(_ id: DeviceID) async throws(PushError) -> DeviceDescription
    /// The handle that the push service gave to the app. Throws `device.uninstalled`.
    func handle(of id: DeviceID) async throws(PushError) -> DeviceHandle
    func inbox(of id: DeviceID) async throws(PushError) -> [InboxItem]
    func perform(_ action: DeviceAction, on id: DeviceID) async throws(PushError)
    func storage(of id: DeviceID) async throws(PushError) -> [String: String]
    func store(_ value: String?, for key: String, on id: DeviceID) async throws(PushError)
    /// Suspends until the inbox holds more than `count` items or the deadline is reached. Returns the items.
    func waitForItems(moreThan count: Int, on id: DeviceID, until deadline: Timestamp) async throws(PushError)
        -> [InboxItem]
    /// Suspends until the app is woken by a push that it handles itself. Returns pushes in the order of arrival.
    func nextPush(on id: DeviceID) async throws -> InboxItem
    /// All devices, in the order in which they were added.
    func devices() async -> [DeviceID]
    func events(since index: Int) async -> [DeviceEvent]
}

package struct DeviceID: Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }
}

package struct DeviceDescription: Sendable, Equatable {
    package var name: String
    package var platform: Platform
    package var user: String?
    package var locale: String
    package var timeZone: String

    package init(
        name: String, platform: Platform, user: String? = nil, locale: String = "en-US", timeZone: String = "UTC"
    ) {
        self.name = name
        self.platform = platform
        self.user = user
        self.locale = locale
        self.timeZone = timeZone
    }
}

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

package struct InboxItem: Sendable, Equatable {
    package enum Source: String, Sendable { case push, local }

    /// The push service's id of the push; `local-1` … for notifications of the app itself.
    package var id: String
    package var receivedAt: Timestamp
    package var title: String
    package var body: String
    /// The text that the user sees; empty if nothing is shown.
    package var text: String
    package var badge: Int?
    /// The payload as received by the app; JSON if the platform's payload is JSON.
    package var payload: [UInt8]
    package var source: Source
    package var isShown: Bool
    package var isBackground: Bool
    package var reasonNotShown: String?

    package init(
        id: String, receivedAt: Timestamp, title: String, body: String, text: String, badge: Int? = nil,
        payload: [UInt8] = [], source: Source = .push, isShown: Bool = true, isBackground: Bool = false,
        reasonNotShown: String? = nil
    ) {
        self.id = id
        self.receivedAt = receivedAt
        self.title = title
        self.body = body
        self.text = text
        self.badge = badge
        self.payload = payload
        self.source = source
        self.isShown = isShown
        self.isBackground = isBackground
        self.reasonNotShown = reasonNotShown
    }
}

/// An event of a push on a device: delivered, stored, deferred, replaced, expired, dropped, shown.
package struct DeviceEvent: Sendable, Equatable {
    package var time: Timestamp
    package var device: DeviceID
    package var kind: String
    package var text: String

    package init(time: Timestamp, device: DeviceID, kind: String, text: String) {
        self.time = time
        self.device = device
        self.kind = kind
        self.text = text
    }
}
