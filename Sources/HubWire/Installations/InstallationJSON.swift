package import PushModel

/// Writes installations as the hub's JSON.
package enum InstallationJSON {
    package static let contentType = "application/json; charset=utf-8"

    /// The response to `GET installations/{id}`, with members in the order of Azure. Empty members are omitted.
    package static func document(_ installation: Installation) -> [UInt8] { json(installation).serialized() }

    /// The response as a value.
    package static func json(_ installation: Installation) -> JSON {
        var object = JSONObject()
        object.append("installationId", .string(installation.id))
        object.append("pushChannel", installation.handle.channel)
        object.append("pushChannelExpired", .bool(installation.isPushChannelExpired))
        object.append("platform", .string(platformName(installation.handle.platform)))
        object.append("expirationTime", .string(text(of: installation.expiration ?? .distantFuture)))
        if let updatedAt = installation.updatedAt {
            object.append("lastActiveOn", .string(updatedAt.description))
            object.append("lastUpdate", .string(updatedAt.description))
        }
        if let userID = installation.userID { object.append("userId", .string(userID)) }
        object.append(installation.tags)
        if !installation.pushVariables.isEmpty { object.append("pushVariables", .object(installation.pushVariables.sorted())) }
        object.append(installation.templates)
        if !installation.secondaryTiles.isEmpty {
            let tiles = installation.secondaryTiles.sorted { $0.key < $1.key }.map { ($0.key, JSON.object($0.value.object)) }
            object.append("secondaryTiles", .object(JSONObject(tiles)))
        }
        return .object(object)
    }

    /// The time as text; .NET clients recognize this value as "never".
    private static func text(of time: Timestamp) -> String {
        time >= .distantFuture ? "9999-12-31T23:59:59.9999999Z" : time.description
    }

    /// Platform names as written in responses.
    private static let names: [(Platform, String)] = [
        (.apns, "apns"), (.wns, "wns"), (.mpns, "mpns"), (.gcm, "gcm"), (.adm, "adm"), (.baidu, "baidu"), (.browser, "browser"),
        (.fcmV1, "fcmV1"), (.xiaomi, "xiaomi"),
    ]

    static var platformNames: String { names.map(\.1).joined(separator: ", ") }

    static func platform(_ name: String) -> Platform? {
        names.first { $0.1.lowercased() == name.lowercased() }?.0
    }

    /// A platform's name in an installation, such as `fcmV1`.
    private static func platformName(_ platform: Platform) -> String {
        names.first { $0.0 == platform }?.1 ?? platform.rawValue
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
