import FoundationEssentials

extension DeviceHandle {
    /// What a direct send to a broadcast channel of APNs names in place of a device: the bytes of the channel's id in hexadecimal,
    /// for a device token has no other characters. Nil where the id is not base64, or longer than 256 characters.
    package static func apns(channel id: String) -> DeviceHandle? {
        // Base64 is read leniently; what is not spelled as it would be written is no id.
        guard (1...256).contains(id.utf8.count), let bytes = Data(base64Encoded: id), bytes.base64EncodedString() == id else {
            return nil
        }
        let hex = bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        return .apns(token: hex.uppercased())
    }
}
