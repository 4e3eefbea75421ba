/// A push that a device received, or a notification of its own app.
package struct InboxItem: Sendable, Equatable {
    package enum Source: String, Sendable { case push, local }

    /// The alert that the push or the app asks the system to show.
    package struct Alert: Sendable, Equatable {
        package var title: String
        package var body: String
        package var badge: Int?

        package init(title: String = "", body: String = "", badge: Int? = nil) {
            self.title = title
            self.body = body
            self.badge = badge
        }
    }

    /// The presentation of an item to the user.
    package struct Display: Sendable, Equatable {
        package var isShown: Bool
        /// The text that the user sees; empty if nothing is shown.
        package var text: String
        package var reasonNotShown: String?

        package init(isShown: Bool, text: String = "", reasonNotShown: String? = nil) {
            self.isShown = isShown
            self.text = text
            self.reasonNotShown = reasonNotShown
        }
    }

    /// The push service's id of the push; `local-1` … for notifications of the app itself.
    package var id: String
    package var receivedAt: Timestamp
    package var source: Source
    package var alert: Alert
    package var display: Display
    /// The payload as received by the app; JSON if the platform's payload is JSON.
    package var payload: [UInt8]
    package var isBackground: Bool

    package init(
        id: String, receivedAt: Timestamp, source: Source = .push, alert: Alert, display: Display, payload: [UInt8] = [],
        isBackground: Bool = false
    ) {
        self.id = id
        self.receivedAt = receivedAt
        self.source = source
        self.alert = alert
        self.display = display
        self.payload = payload
        self.isBackground = isBackground
    }

    package var isShown: Bool { display.isShown }
}
