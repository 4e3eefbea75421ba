import PushModel

/// `{"registration": {…}}` or `{"installation": {"id": "…", "user": "…", "tags": […]}}`
extension PrunedDevice {
    var storedContent: JSON {
        switch subject {
        case .registration(let registration): return ["registration": registration.storedJSON]
        case .installation(let id, let user, let tags):
            var object: JSONObject = ["id": .string(id)]
            if let user { object.append("user", .string(user)) }
            if !tags.isEmpty { object.append("tags", JSON(tags)) }
            return ["installation": .object(object)]
        }
    }
}

extension PrunedDevice.Subject {
    init(stored json: JSON) throws {
        if let registration = json["registration"] {
            self = .registration(try Registration(stored: registration))
        } else {
            let installation = try json.required("installation")
            self = .installation(
                id: try installation.required("id").storedText(), userID: try installation["user"]?.storedText(),
                tags: try installation["tags"]?.storedTags() ?? [])
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
            handle: try DeviceHandle(stored: json.required("handle")), tags: try json["tags"]?.storedTags() ?? [],
            template: try json["template"].map { try RegistrationTemplate(stored: $0) },
            pushVariables: try json["variables"]?.storedTexts() ?? [:], secondaryTile: try json["tile"]?.storedText())
    }
}
