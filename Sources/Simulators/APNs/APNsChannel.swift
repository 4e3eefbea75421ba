/// A broadcast channel of an app (Apple, "Sending channel management requests to APNs").
struct APNsChannel: Sendable, Equatable {
    /// The id: base64 of 16 bytes.
    var id: String
    /// `message-storage-policy`: 1 stores the newest message for offline devices, 0 stores none.
    var storesNewest: Bool

    /// - Parameter bytes: 16 random bytes.
    static func id(_ bytes: [UInt8]) -> String {
        Base64URL.text(bytes).replacing("-", with: "+").replacing("_", with: "/") + "=="
    }

    /// Whether the text has the form of a channel id.
    static func isID(_ text: String) -> Bool {
        let plain = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return text.utf8.count == 24 && Base64URL.bytes(plain)?.count == 16
    }
}
