/// An empty object in a payload where push services expect a list, as in `"loc-args":{}`. Scripts cause it: an empty Lua table is written
/// as an object.
package struct EmptyPayloadList: Sendable, Equatable {
    /// The name of the member, such as `loc-args`.
    package let key: String

    /// Nil for a member that is not a list.
    package init?(key: String) {
        guard Self.lists.contains(key) else { return nil }
        self.key = key
    }

    /// The code of the warning.
    package static let code = "payload.empty_list"

    package var message: String { "\"\(key)\" is the object {} in the payload; push services expect a list" }

    /// How to correct it.
    package var hint: String { "write push.json.array {}, or leave it out" }

    /// The message and the hint in one sentence.
    package var warning: String { "\(message); \(hint)" }

    /// Members that are lists: of APNs ("Generating a remote notification"), and of FCM in both spellings of its names.
    private static let lists: Set<String> = [
        "loc-args", "title-loc-args", "subtitle-loc-args", "url-args", "body_loc_args", "title_loc_args", "bodyLocArgs", "titleLocArgs",
    ]

    /// All of them in a payload, in its order. None if it is not JSON.
    package static func all(in body: [UInt8]) -> [EmptyPayloadList] {
        // All names end so. Most payloads have none of them and need no parsing.
        guard body.contains(text: "rgs\""), let json = try? JSON(parsing: body) else { return [] }
        return all(in: json)
    }

    private static func all(in json: JSON) -> [EmptyPayloadList] {
        switch json {
        case .array(let items): items.flatMap(all)
        case .object(let object):
            object.members.flatMap { key, value in
                value.object?.isEmpty == true ? [EmptyPayloadList(key: key)].compactMap { $0 } : all(in: value)
            }
        case .null, .bool, .integer, .number, .numeral, .string: []
        }
    }
}

extension NotificationContent {
    /// Empty objects in native payloads where push services expect a list, in the order of the platforms.
    package var emptyPayloadLists: [EmptyPayloadList] {
        guard case .native(let payloads) = self else { return [] }
        return payloads.sorted { $0.key < $1.key }.flatMap { EmptyPayloadList.all(in: $0.value.body) }
    }
}
