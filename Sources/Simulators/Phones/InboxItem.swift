/// Something that arrived on a phone, shown or not.
package struct InboxItem: Sendable, Equatable {
    package enum Source: String, Sendable {
        /// It came over the wire.
        case push
        /// The app itself displayed it.
        case local
    }

    /// `apns-id`, the message id of FCM, WNS or a Web Push service; `local-1`, `local-2`, … for what the app displays itself.
    package var id: String
    /// Milliseconds since 1970.
    package var receivedAt: Int64
    package var title: String
    package var subtitle: String
    package var body: String
    /// `aps.badge`, or the badge that the Android notification counts; nil when the push does not say.
    package var badge: Int?
    package var sound: String?
    /// `aps.category`, or the click action of an Android notification.
    package var category: String?
    package var image: String?
    /// The whole payload as JSON text, without the address that it was sent to; a browser's as it was before encryption,
    /// and empty when it could not be decrypted.
    package var data: [UInt8]
    package var source: Source
    /// Whether it stands on the screen; false once a later one took its place.
    package var isShown: Bool
    /// Whether it was meant for the app's code and not for the user.
    package var isBackground: Bool
    package var reasonNotShown: String?
    /// Collapse id or tag: the next one with the same text takes this one's place.
    package var replacementKey: String?

    /// About as many bytes as it takes.
    var storedBytes: Int { Self.fixedBytes + data.count + title.utf8.count + subtitle.utf8.count + body.utf8.count }
    private static let fixedBytes = 400

    /// What the user sees: title, subtitle and body, one line each, without the empty ones; "" when it is not shown.
    package var text: String {
        guard isShown else { return "" }
        return [title, subtitle, body].filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
