import Crypto
import HTTPTypes
import PushModel

/// One webhook request that reports removed and restored devices to an app's backend.
///
/// `{"hub", "batch", "items": [{"event": "pruned" | "restored", "number", "platform", "handle", "registrationId"? | "installationId"?,
/// "userId"?, "tags", "reason", "notificationId", "time"}]}`
struct PrunedReport: Sendable {
    let body: [UInt8]
    private let batch: String

    init(hub: String, _ devices: [PrunedDevice]) {
        // The batch id is a hash of the devices, so that a retry has the same idempotency key.
        var hash = SHA256()
        hash.update(data: Array(hub.utf8))
        for device in devices { withUnsafeBytes(of: device.number.littleEndian) { hash.update(bufferPointer: $0) } }
        batch = hash.finalize().prefix(16).map { $0.hexDigits }.joined()
        let json: JSON = ["hub": .string(hub), "batch": .string(batch), "items": .array(devices.map(\.reportItem))]
        body = json.serialized()
    }

    /// Signed with the current time, so that a receiver can verify the sender and refuse a replay.
    func request(to address: WebAddress, secret: Secret, now: Timestamp) -> HTTPRequest {
        var request = HTTPRequest(method: .post, scheme: address.scheme, authority: address.authority, path: address.path)
        request.headerFields[.contentType] = "application/json"
        request.headerFields[.prunedBatch] = batch
        request.headerFields[.prunedSignature] = signature(secret, now: now)
        return request
    }

    /// The signature `t=1767603600,v1=…`: HMAC-SHA256 (RFC 2104), in lower-case hexadecimal, of the seconds since 1970 as written after
    /// `t=`, a full stop, and the body.
    func signature(_ secret: Secret, now: Timestamp) -> String {
        "t=\(now.seconds),v1=\(secret.signature(of: Array("\(now.seconds).".utf8) + body))"
    }
}

extension HTTPField.Name {
    fileprivate static let prunedBatch = Self("Idempotency-Key") ?? .contentType
    fileprivate static let prunedSignature = Self("PushHost-Signature") ?? .contentType
}

extension UInt8 {
    fileprivate var hexDigits: String { (self < 16 ? "0" : "") + String(self, radix: 16) }
}

extension PrunedDevice {
    fileprivate var reportItem: JSON {
        var object: JSONObject = [
            "event": isRestored ? "restored" : "pruned", "number": .integer(number), "platform": .string(handle.platform.shortName),
            "handle": .string(handle.text),
        ]
        switch subject {
        case .registration(let registration): object.append("registrationId", .string(registration.id.text))
        case .installation(let id, _, _): object.append("installationId", .string(id))
        }
        if let userID { object.append("userId", .string(userID)) }
        object.append("tags", .array(tags.map { .string($0.text) }))
        object.append("reason", .string(reason))
        object.append("notificationId", .string(notificationID))
        object.append("time", .string(time.description))
        return .object(object)
    }
}
