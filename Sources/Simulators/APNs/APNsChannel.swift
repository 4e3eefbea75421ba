/// A broadcast channel of an app (Apple, "Sending channel management requests to APNs").
struct APNsChannel: Sendable, Equatable {
    /// Base64 of 16 bytes.
    var id: String
    /// `message-storage-policy` 1: the newest message waits for devices that are offline; 0: none does.
    var storesNewest: Bool

    /// - Parameter bytes: 16 of them.
    static func id(_ bytes: [UInt8]) -> String {
        Base64URL.text(bytes).replacing("-", with: "+").replacing("_", with: "/") + "=="
    }

    /// Whether a text could be one.
    static func isID(_ text: String) -> Bool {
        let plain = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return text.utf8.count == 24 && Base64URL.bytes(plain)?.count == 16
    }
}
