import FoundationEssentials

extension DeviceHandle {
    /// The handle that a direct send uses for an APNs broadcast channel: the bytes of the channel id in hexadecimal, because a device token
    /// allows no other characters. Nil if the id is not base64 or is longer than 256 characters.
    package static func apns(channel id: String) -> DeviceHandle? {
        // The decoder is lenient: reject an id that is not in canonical base64.
        guard (1...256).contains(id.utf8.count), let bytes = Data(base64Encoded: id), bytes.base64EncodedString() == id else {
            return nil
        }
        let hex = bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        return .apns(token: hex.uppercased())
    }
}
