import PushModel

extension Installation {
    package static let contentType = "application/json; charset=utf-8"

    /// The response to `GET installations/{id}`, with members in the order of Azure. Empty members are omitted.
    package func document() -> [UInt8] {
        var object = JSONObject()
        object.append("installationId", .string(id))
        object.append("pushChannel", handle.channel)
        object.append("pushChannelExpired", .bool(isPushChannelExpired))
        object.append("platform", .string(platformName))
        object.append("expirationTime", .string(Self.text(of: expiration ?? .distantFuture)))
        if let updatedAt {
            object.append("lastActiveOn", .string(updatedAt.description))
            object.append("lastUpdate", .string(updatedAt.description))
        }
        if let userID { object.append("userId", .string(userID)) }
        object.append(tags)
        if !pushVariables.isEmpty { object.append("pushVariables", .object(pushVariables.sorted())) }
        object.append(templates)
        if !secondaryTiles.isEmpty {
            let tiles = secondaryTiles.sorted { $0.key < $1.key }.map { ($0.key, JSON.object($0.value.object)) }
            object.append("secondaryTiles", .object(JSONObject(tiles)))
        }
        return JSON.object(object).serialized()
    }

    /// The time as text; .NET clients recognize this value as "never".
    private static func text(of moment: Timestamp) -> String {
        moment >= .distantFuture ? "9999-12-31T23:59:59.9999999Z" : moment.description
    }
}

extension SecondaryTile {
    fileprivate var object: JSONObject {
        var object = JSONObject()
        object.append("pushChannel", handle.channel)
        object.append("pushChannelExpired", .bool(isPushChannelExpired))
        object.append(tags)
        object.append(templates)
        return object
    }
}

extension DeviceHandle {
    fileprivate var channel: JSON {
        guard case .browser(let endpoint, let p256dh, let auth) = self else { return .string(text) }
        return ["endpoint": .string(endpoint), "p256dh": .string(p256dh), "auth": .string(auth)]
    }
}

extension JSONObject {
    fileprivate mutating func append(_ tags: [Tag]) {
        if !tags.isEmpty { append("tags", .array(tags.map { .string($0.text) })) }
    }

    fileprivate mutating func append(_ templates: [String: InstallationTemplate]) {
        guard !templates.isEmpty else { return }
        let members = templates.sorted { $0.key < $1.key }.map { name, template in
            var object = JSONObject()
            object.append("body", .string(template.body))
            if !template.headers.isEmpty {
                object.append("headers", .object(JSONObject(template.headers.map { ($0.name, JSON.string($0.value)) })))
            }
            if let expiry = template.expiry { object.append("expiry", .string(expiry)) }
            // Azure shows a template without tags as tagged with its own name, even if the name is not a valid tag.
            let tags = template.tags ?? []
            object.append("tags", .array(tags.isEmpty ? [.string(name)] : tags.map { .string($0.text) }))
            return (name, JSON.object(object))
        }
        append("templates", .object(JSONObject(members)))
    }
}

extension Dictionary where Key == String, Value == String {
    fileprivate func sorted() -> JSONObject {
        JSONObject(sorted { $0.key < $1.key }.map { ($0.key, JSON.string($0.value)) })
    }
}
