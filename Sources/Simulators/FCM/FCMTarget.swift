/// The target of a message (Google, "REST Resource: projects.messages", union field `target`).
enum FCMTarget {
    case token(String)
    /// A Firebase installation id.
    case installation(String)
    case topic(String)
    case condition(FCMCondition)

    private static let names = ["token", "fid", "topic", "condition"]

    /// Reads the target. Exactly one of the four fields must be present, with a valid text.
    ///
    /// - Parameter message: A message with a checked shape.
    init(message: JSONValue) throws(FCMRefusal) {
        let present = (message.members ?? []).filter { Self.names.contains($0.name) }
        guard let target = present.first else {
            throw .badField("message.token", "Recipient of the message is not set.")
        }
        guard present.count == 1 else {
            throw .badSchema(
                "message",
                "Invalid value at 'message' (oneof), oneof field 'target' is already set. "
                    + "Cannot set '\(present[1].name)'")
        }
        let text = target.value.string ?? ""
        switch target.name {
        case "token":
            guard Self.isToken(text) else {
                throw FCMRefusal(.invalidArgument, "The registration token is not a valid FCM registration token")
            }
            self = .token(text)
        case "fid":
            guard text.utf8.count == 22, text.utf8.allSatisfy(Self.isTokenByte) else {
                throw FCMRefusal(.invalidArgument, "The Firebase installation id is not a valid one")
            }
            self = .installation(text)
        case "topic":
            guard Self.isTopic(text) else { throw .badField("message.topic", "Malformed topic name") }
            self = .topic(text)
        default:
            guard let condition = FCMCondition(text) else {
                throw .badField("message.condition", "Invalid condition expression provided.")
            }
            self = .condition(condition)
        }
    }

    /// The maximum message size, in bytes. Topics have half of it.
    var sizeLimit: Int {
        switch self {
        case .token, .installation: 4096
        case .topic, .condition: 2048
        }
    }

    /// Whether the text is an installation id of 22 characters, a colon, and at least 100 characters of base64url.
    private static func isToken(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0].utf8.count == 22 && parts[1].utf8.count >= 100
            && parts.allSatisfy { $0.utf8.allSatisfy(isTokenByte) }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether the text matches `[a-zA-Z0-9-_.~%]+`.
    static func isTopic(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isTokenByte($0) || ".~%".utf8.contains($0) }
    }
}
