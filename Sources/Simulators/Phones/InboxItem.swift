/// An item that arrived on a phone, shown or not.
package struct InboxItem: Sendable, Equatable {
    package enum Source: String, Sendable {
        /// Received from a push service.
        case push
        /// Shown by the app itself.
        case local
    }

    /// The presentation of an item to the user.
    package struct Display: Sendable, Equatable {
        /// Whether it is on the screen; `false` once a later item has replaced it.
        package var isShown = false
        package var reasonNotShown: String?
    }

    /// `apns-id`, or the message id of FCM, WNS or Web Push; `local-1`, `local-2`, … for items shown by the app itself.
    package var id: String
    /// Milliseconds since 1970.
    package var receivedAt: Int64
    package var source: Source
    package var banner: Banner
    /// `aps.badge`, or the count of an Android notification; `nil` if the push sets none.
    package var badge: Int?
    /// The whole payload as JSON text, without its target. For browsers the decrypted payload; empty if decryption failed.
    package var data: [UInt8]
    /// Whether it was meant for the app's code and not for the user.
    package var isBackground: Bool
    package var display = Display()

    package var isShown: Bool { display.isShown }
    package var reasonNotShown: String? { display.reasonNotShown }

    /// Approximate size, in bytes.
    var storedBytes: Int { Self.fixedBytes + data.count + banner.title.utf8.count + banner.subtitle.utf8.count + banner.body.utf8.count }
    private static let fixedBytes = 400

    /// The visible text: title, subtitle and body, one per line, without empty ones; "" if it is not shown.
    package var text: String { isShown ? banner.text : "" }
}
