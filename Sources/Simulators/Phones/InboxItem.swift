/// An item that arrived on a phone, shown or not.
package struct InboxItem: Sendable, Equatable {
    package enum Source: String, Sendable {
        /// Received from a push service.
        case push
        /// Shown by the app itself.
        case local
    }

    /// `apns-id`, or the message id of FCM, WNS or Web Push; `local-1`, `local-2`, … for items shown by the app itself.
    package var id: String
    /// Milliseconds since 1970.
    package var receivedAt: Int64
    package var title: String
    package var subtitle: String
    package var body: String
    /// `aps.badge`, or the count of an Android notification; `nil` if the push sets none.
    package var badge: Int?
    package var sound: String?
    /// `aps.category`, or the click action of an Android notification.
    package var category: String?
    package var image: String?
    /// The whole payload as JSON text, without its target. For browsers the decrypted payload; empty if decryption failed.
    package var data: [UInt8]
    package var source: Source
    /// Whether it is on the screen; `false` once a later item has replaced it.
    package var isShown: Bool
    /// Whether it was meant for the app's code and not for the user.
    package var isBackground: Bool
    package var reasonNotShown: String?
    /// Collapse id or tag: the next item with the same key replaces this one.
    package var replacementKey: String?

    /// Approximate size, in bytes.
    var storedBytes: Int { Self.fixedBytes + data.count + title.utf8.count + subtitle.utf8.count + body.utf8.count }
    private static let fixedBytes = 400

    /// The visible text: title, subtitle and body, one per line, without empty ones; "" if it is not shown.
    package var text: String {
        guard isShown else { return "" }
        return [title, subtitle, body].filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
