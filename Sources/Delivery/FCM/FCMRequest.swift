import HTTPTypes
import PushModel

/// The FCM request of one batch; only the registration token differs from device to device.
struct FCMRequest: Sendable {
    private let path: [UInt8]
    /// The part of every body after the token.
    private let tail: [UInt8]

    init(_ message: FCMMessage, settings: FCMSettings) {
        path = Array("/v1/projects/\(Self.escaped(settings.projectID))/messages:send".utf8)
        var tail: [UInt8] = []
        if message.fields.isEmpty {
            tail = [UInt8(ascii: "}")]
        } else {
            tail = [UInt8(ascii: ",")] + JSON.object(message.fields).serialized().dropFirst()
        }
        if message.isDryRun { tail += Array(#","validate_only":true"#.utf8) }
        self.tail = tail + [UInt8(ascii: "}")]
    }

    static let origin = PushOrigin(authority: FCMSettings.host)
    private static let fields = [PushHeader(HTTPField.Name.contentType.rawName, "application/json")]
    private static let head = Array(#"{"message":{"token":"#.utf8)
    /// The usual size of a token with its quotes, in bytes; a longer one still fits.
    private static let tokenSize = 170

    static func headers(_ credential: Credential) -> HeaderTemplate {
        HeaderTemplate(
            origin: origin, authorization: Secret("Bearer " + credential.token.reveal()), fields: fields, sendsContentLength: true)
    }

    func batch(to tokens: some Collection<String>, credential: Credential) -> PushBatch {
        var bodies = PushBodies(head: Self.head, tail: tail, capacity: tokens.count, partSize: Self.tokenSize)
        for token in tokens { bodies.append { Self.write(token, &$0) } }
        var batch = PushBatch(headers: Self.headers(credential), bodies: bodies, capacity: tokens.count, pathSize: path.count)
        for _ in tokens { batch.append(id: nil) { $0 += path } }
        return batch
    }

    /// Appends a token as JSON text.
    private static func write(_ token: String, _ bytes: inout [UInt8]) {
        let isPlain = token.utf8.allSatisfy { (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        guard isPlain else { return bytes += JSON.string(token).serialized() }
        bytes.append(UInt8(ascii: "\""))
        bytes += token.utf8
        bytes.append(UInt8(ascii: "\""))
    }

    /// Escapes a project id. A valid one has nothing to escape; an invalid one must not change the path.
    private static func escaped(_ projectID: String) -> String {
        String(decoding: FormBody.encode(["": projectID]).dropFirst(), as: UTF8.self)
    }
}
