import PushModel

/// A stored pruned device. What it was is JSON:
///
/// `{"registration": {…}}` or `{"installation": {"id": "…", "user": "…", "tags": […]}}`
struct PrunedRow {
    /// The columns that `init(_:)` reads.
    static let columns = "number, time, is_restored, notification, platform, handle, reason, content"

    let device: PrunedDevice

    init(_ device: PrunedDevice) { self.device = device }

    init(_ row: some SQLRow) throws {
        device = try reading("the pruned device \(row.integer(0))") {
            PrunedDevice(
                number: row.integer(0), isRestored: row.integer(2) != 0, try Self.subject(of: row.json(7)),
                handle: try DeviceHandle(platform: Platform(stored: row.text(4)), stored: row.text(5)), reason: row.text(6),
                notificationID: row.text(3), time: row.time(1))
        }
    }

    private static func subject(of json: JSON) throws -> PrunedDevice.Subject {
        if let registration = json["registration"] { return .registration(try Registration(stored: registration)) }
        let installation = try json.required("installation")
        return .installation(
            id: try installation.required("id").storedText(), userID: try installation["user"]?.storedText(),
            tags: try installation["tags"]?.storedTags() ?? [])
    }

    var content: JSON {
        switch device.subject {
        case .registration(let registration): return ["registration": registration.storedJSON]
        case .installation(let id, let user, let tags):
            var object: JSONObject = ["id": .string(id)]
            if let user { object.append("user", .string(user)) }
            if !tags.isEmpty { object.append("tags", JSON(tags)) }
            return ["installation": .object(object)]
        }
    }
}

/// A complete standalone registration.
extension Registration {
    fileprivate var storedJSON: JSON {
        var object: JSONObject = [
            "id": .string(id.text), "etag": .integer(Int64(etag)), "expiration": .integer(expiration.milliseconds),
            "updated": .integer(updatedAt.milliseconds), "handle": handle.storedJSON,
        ]
        if !tags.isEmpty { object.append("tags", JSON(tags)) }
        if let template { object.append("template", template.storedJSON) }
        if !pushVariables.isEmpty { object.append("variables", JSON(pushVariables)) }
        if let secondaryTile { object.append("tile", .string(secondaryTile)) }
        return .object(object)
    }

    fileprivate init(stored json: JSON) throws {
        self.init(
            id: try RegistrationID(stored: json.required("id").storedText()), etag: Int(try json.required("etag").storedInteger()),
            expiration: Timestamp(milliseconds: try json.required("expiration").storedInteger()),
            updatedAt: Timestamp(milliseconds: try json.required("updated").storedInteger()),
            description: RegistrationDescription(
                handle: try DeviceHandle(stored: json.required("handle")), tags: try json["tags"]?.storedTags() ?? [],
                template: try json["template"].map { try RegistrationTemplate(stored: $0) },
                pushVariables: try json["variables"]?.storedTexts() ?? [:], secondaryTile: try json["tile"]?.storedText()))
    }
}
