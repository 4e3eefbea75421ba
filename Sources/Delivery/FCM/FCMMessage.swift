import PushModel

/// An FCM v1 message without its target ("REST Resource: projects.messages").
struct FCMMessage: Sendable, Equatable {
    struct Malformed: Error, Equatable {
        let explanation: String
    }

    private static let targets = ["token", "topic", "condition", "fid"]

    private(set) var fields: JSONObject
    private(set) var isDryRun: Bool

    init(fields: JSONObject = JSONObject(), isDryRun: Bool = false) {
        self.fields = fields
        self.isDryRun = isDryRun
    }

    /// Reads a v1 body, or also a legacy body if `isLegacy` is set.
    init(body: [UInt8], isLegacy: Bool) throws(Malformed) {
        guard let json = try? JSON(parsing: body, numbers: .asWritten), let object = json.object else {
            throw Malformed(explanation: "the body is not a JSON object; FCM accepts nothing else")
        }
        if let message = json["message"]?.object {
            self.init(fields: message, isDryRun: json["validate_only"] == .bool(true))
            for target in Self.targets { fields[target] = nil }
        } else if isLegacy {
            self = FCMLegacyMessage(object).converted
        } else {
            throw Malformed(
                explanation: "the body has no message object; write {\"message\":{…}}, or send legacy bodies as gcm")
        }
    }

    /// Applies the platform-independent options of a send where the message does not set its own values.
    mutating func apply(_ options: PushOptions, now: Timestamp) {
        var android = fields["android"]?.object ?? JSONObject()
        if let expiration = options.expiration, android["ttl"] == nil {
            // FCM stores a message for at most four weeks ("Set the lifespan of a message").
            let seconds = max(0, min((expiration - now).milliseconds / 1000, 2_419_200))
            android["ttl"] = .string("\(seconds)s")
        }
        if let priority = options.priority, android["priority"] == nil {
            android["priority"] = .string(priority == .high ? "HIGH" : "NORMAL")
        }
        if let collapseID = options.collapseID, android["collapse_key"] == nil {
            android["collapse_key"] = .string(collapseID)
        }
        if !android.isEmpty { fields["android"] = .object(android) }
    }

    /// The size that FCM's limit counts, approximately: the message without target and whitespace, in bytes.
    var size: Int { JSON.object(fields).serialized().count }
}
