import PushModel

/// An object with the properties that are set. Empty lists and maps are omitted.
extension Installation {
    var storedJSON: JSON {
        var object: JSONObject = ["id": .string(id), "handle": handle.storedJSON]
        if let userID { object.append("user", .string(userID)) }
        if isPushChannelExpired { object.append("expired", true) }
        if let expiration { object.append("expiration", .integer(expiration.milliseconds)) }
        if !tags.isEmpty { object.append("tags", JSON(tags)) }
        if !pushVariables.isEmpty { object.append("variables", JSON(pushVariables)) }
        if !templates.isEmpty { object.append("templates", JSON(templates)) }
        if !secondaryTiles.isEmpty {
            object.append("tiles", .object(JSONObject(secondaryTiles.map { ($0.key, $0.value.storedJSON) })))
        }
        if let updatedAt { object.append("updated", .integer(updatedAt.milliseconds)) }
        return .object(object)
    }

    init(stored json: JSON) throws {
        var tiles: [String: SecondaryTile] = [:]
        for (id, tile) in try json["tiles"]?.storedObject().members ?? [] { tiles[id] = try SecondaryTile(stored: tile) }
        self.init(
            id: try json.required("id").storedText(), userID: try json["user"]?.storedText(),
            handle: try DeviceHandle(stored: json.required("handle")),
            expiration: try json["expiration"].map { Timestamp(milliseconds: try $0.storedInteger()) },
            tags: try json["tags"]?.storedTags() ?? [], pushVariables: try json["variables"]?.storedTexts() ?? [:],
            templates: try json["templates"]?.storedTemplates() ?? [:], secondaryTiles: tiles)
        isPushChannelExpired = json["expired"] == true
        updatedAt = try json["updated"].map { Timestamp(milliseconds: try $0.storedInteger()) }
    }
}

extension SecondaryTile {
    fileprivate var storedJSON: JSON {
        var object: JSONObject = ["handle": handle.storedJSON]
        if isPushChannelExpired { object.append("expired", true) }
        if !tags.isEmpty { object.append("tags", JSON(tags)) }
        if !templates.isEmpty { object.append("templates", JSON(templates)) }
        return .object(object)
    }

    fileprivate init(stored json: JSON) throws {
        self.init(
            handle: try DeviceHandle(stored: json.required("handle")), isPushChannelExpired: json["expired"] == true,
            tags: try json["tags"]?.storedTags() ?? [], templates: try json["templates"]?.storedTemplates() ?? [:])
    }
}

extension JSON {
    fileprivate init(_ templates: [String: InstallationTemplate]) {
        self = .object(
            JSONObject(
                templates.map { name, template in
                    var object: JSONObject = ["body": .string(template.body)]
                    if !template.headers.isEmpty { object.append("headers", JSON(template.headers)) }
                    if let expiry = template.expiry { object.append("expiry", .string(expiry)) }
                    if let tags = template.tags { object.append("tags", JSON(tags)) }
                    return (name, .object(object))
                }))
    }

    fileprivate func storedTemplates() throws -> [String: InstallationTemplate] {
        var templates: [String: InstallationTemplate] = [:]
        for (name, template) in try storedObject().members {
            templates[name] = InstallationTemplate(
                body: try template.required("body").storedText(), headers: try template["headers"]?.storedHeaders() ?? [],
                expiry: try template["expiry"]?.storedText(), tags: try template["tags"]?.storedTags())
        }
        return templates
    }
}
