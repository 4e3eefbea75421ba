import PushModel

extension Installation {
    /// Reads the body of `PUT installations/{id}`. A null member counts as absent. Members that only the hub may set are ignored.
    /// - Parameter id: The id in the address. An id in the body must be equal.
    /// Throws `installation.invalid` (400; 413 if too large), and the errors of an invalid handle or tag.
    package init(body: [UInt8], id: String) throws(PushError) {
        let json = try Self.json(body)
        guard let members = InstallationMembers(json) else { throw Self.refusal("the body is not a JSON object", "send an object") }
        if let own = try members.text("installationId"), own != id {
            throw Self.refusal("the installationId \"\(own)\" differs from the id in the address", "send the same id in both")
        }
        guard let name = try members.text("platform") else {
            throw Self.refusal("the installation has no platform", "add one of \(Self.platformNames)")
        }
        guard let platform = Self.platform(name) else {
            throw Self.refusal("unknown platform \"\(name)\"", "use one of \(Self.platformNames)")
        }
        guard let channel = members["pushChannel"] else {
            throw Self.refusal("the installation has no pushChannel", "add the handle from the push service")
        }
        self.init(
            id: id, userID: try members.text("userId")?.nonEmpty, handle: try Self.handle(channel, platform),
            expiration: try Self.moment(members), tags: try members.tags() ?? [],
            pushVariables: try members.strings("pushVariables"), templates: try members.templates(),
            secondaryTiles: try Self.secondaryTiles(members, platform))
    }

    /// Reads a hub's response to `GET installations/{id}`, including the members that only the hub sets.
    ///
    /// Throws `installation.invalid`, and the errors of an invalid handle or tag.
    package init(answer body: [UInt8], id: String) throws(PushError) {
        try self.init(body: body, id: id)
        guard let members = InstallationMembers(try Self.json(body)) else { return }
        isPushChannelExpired = members["pushChannelExpired"]?.bool ?? members["expiredPushChannel"]?.bool ?? false
        updatedAt = try members.text("lastUpdate").flatMap { Timestamp(iso8601: $0) }
    }

    /// Parses a body. Rejects one that is too large or not JSON.
    static func json(_ body: [UInt8]) throws(PushError) -> JSON {
        guard body.count <= maximumSize else {
            throw PushError(
                "installation.invalid", "the body has \(body.count) bytes; the limit is \(maximumSize)", hint: "send less",
                status: 413)
        }
        do {
            return try JSON(parsing: body, numbers: .asWritten)
        } catch {
            throw refusal(
                "the body is not JSON: \(error.message.asClause) at line \(error.line), column \(error.column)", "send a JSON document")
        }
    }

    /// Platform names as written in responses.
    private static let names: [(Platform, String)] = [
        (.apns, "apns"), (.wns, "wns"), (.mpns, "mpns"), (.gcm, "gcm"), (.adm, "adm"), (.baidu, "baidu"), (.browser, "browser"),
        (.fcmV1, "fcmV1"), (.xiaomi, "xiaomi"),
    ]

    private static var platformNames: String { names.map(\.1).joined(separator: ", ") }

    private static func platform(_ name: String) -> Platform? {
        names.first { $0.1.lowercased() == name.lowercased() }?.0
    }

    /// The platform's name in an installation, such as `fcmV1`.
    var platformName: String { Self.names.first { $0.0 == handle.platform }?.1 ?? handle.platform.rawValue }

    /// Reads a handle: a string, or for browsers an object. .NET encodes the object's JSON as a string.
    private static func handle(_ channel: JSON, _ platform: Platform) throws(PushError) -> DeviceHandle {
        if let text = channel.string { return try DeviceHandle(platform: platform, text: text) }
        guard platform == .browser, channel.object != nil else {
            throw refusal("the pushChannel is not a string", "send the handle from the push service unchanged")
        }
        return try DeviceHandle(subscription: channel)
    }

    /// The expiration time; nil if absent or "never", so that the hub chooses it.
    private static func moment(_ members: InstallationMembers) throws(PushError) -> Timestamp? {
        guard let text = try members.text("expirationTime")?.nonEmpty else { return nil }
        guard let moment = Timestamp(iso8601: text) else {
            throw refusal("invalid expirationTime \"\(text)\"", "write 2026-01-31T12:00:00Z")
        }
        return moment >= .distantFuture ? nil : moment
    }

    private static func secondaryTiles(
        _ members: InstallationMembers, _ platform: Platform
    ) throws(PushError) -> [String: SecondaryTile] {
        var tiles: [String: SecondaryTile] = [:]
        for (id, value) in try members.members("secondaryTiles") {
            guard let tile = InstallationMembers(value), let channel = tile["pushChannel"] else {
                throw refusal("the tile \(id) has no pushChannel", "add the channel of the tile")
            }
            tiles[id] = SecondaryTile(
                handle: try handle(channel, platform), tags: try tile.tags() ?? [], templates: try tile.templates())
        }
        return tiles
    }

    static func refusal(_ why: String, _ hint: String) -> PushError {
        PushError("installation.invalid", why, hint: hint, status: 400)
    }
}

/// The members of a JSON object in an installation. Names are case-insensitive, as in Azure.
struct InstallationMembers {
    private let object: JSONObject

    init?(_ json: JSON) {
        guard let object = json.object else { return nil }
        self.object = object
    }

    /// The member's value; nil if absent or null.
    subscript(name: String) -> JSON? {
        let value = object[name] ?? object.members.first { $0.key.lowercased() == name.lowercased() }?.value
        return value.flatMap { $0.isNull ? nil : $0 }
    }

    func text(_ name: String) throws(PushError) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string else { throw Installation.refusal("\(name) is not a string", "send it as a string") }
        return text
    }

    /// The members of a nested object, without null ones.
    func members(_ name: String) throws(PushError) -> [(key: String, value: JSON)] {
        guard let value = self[name] else { return [] }
        guard let members = value.object?.members else { throw Installation.refusal("\(name) is not an object", "send a JSON object") }
        return members.filter { !$0.value.isNull }
    }

    /// The members of a nested object as strings. Other values are converted to their JSON text.
    func strings(_ name: String) throws(PushError) -> [String: String] {
        let members = try members(name)
        return Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value.plainText) })
    }

    /// - Parameter name: The template to which the tags belong.
    func tags(ofTemplate name: String? = nil) throws(PushError) -> [Tag]? {
        guard let value = self["tags"] else { return nil }
        guard let items = value.array else { throw Installation.refusal("tags is not an array", "send a list of strings") }
        let texts = items.compactMap(\.string)
        guard texts.count == items.count else { throw Installation.refusal("a tag is not a string", "send a list of strings") }
        return try [Tag](texts, ofTemplate: name)
    }

    /// The template's body. One page of Azure's documentation calls it `bodyTemplate`.
    private func body() throws(PushError) -> String? {
        if let body = try text("body") { return body }
        return try text("bodyTemplate")
    }

    func templates() throws(PushError) -> [String: InstallationTemplate] {
        var templates: [String: InstallationTemplate] = [:]
        for (name, value) in try members("templates") {
            guard let template = InstallationMembers(value), let body = try template.body() else {
                throw Installation.refusal("the template \(name) has no body", "send an object with a body")
            }
            var headers: [PushHeader] = []
            for (name, value) in try template.members("headers") { headers.append(PushHeader(name, value.plainText)) }
            let expiry = template["expiry"]?.plainText
            templates[name] = InstallationTemplate(
                body: body, headers: headers, expiry: expiry?.nonEmpty, tags: try template.tags(ofTemplate: name))
        }
        return templates
    }
}
