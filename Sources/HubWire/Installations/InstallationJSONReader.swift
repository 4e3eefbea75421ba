package import PushModel

/// Reads installations from the hub's JSON.
package enum InstallationJSONReader {
    /// Reads the body of `PUT installations/{id}`. A null member counts as absent. Members that only the hub may set are ignored.
    /// - Parameter id: The id in the address. An id in the body must be equal.
    /// Throws `installation.invalid` (400; 413 if too large), and the errors of an invalid handle or tag.
    package static func installation(body: [UInt8], id: String) throws(PushError) -> Installation {
        try installation(try json(body), id: id)
    }

    /// Reads an installation that names its own id. Throws like ``installation(body:id:)``.
    package static func installation(_ json: JSON) throws(PushError) -> Installation {
        guard let id = try InstallationMembers(json)?.text("installationId")?.nonEmpty else {
            throw refusal("the installation has no installationId", "add it")
        }
        return try installation(json, id: id)
    }

    private static func installation(_ json: JSON, id: String) throws(PushError) -> Installation {
        guard let members = InstallationMembers(json) else { throw refusal("the body is not a JSON object", "send an object") }
        if let own = try members.text("installationId"), own != id {
            throw refusal("the installationId \"\(own)\" differs from the id in the address", "send the same id in both")
        }
        guard let name = try members.text("platform") else {
            throw refusal("the installation has no platform", "add one of \(InstallationJSON.platformNames)")
        }
        guard let platform = InstallationJSON.platform(name) else {
            throw refusal("unknown platform \"\(name)\"", "use one of \(InstallationJSON.platformNames)")
        }
        guard let channel = members["pushChannel"] else {
            throw refusal("the installation has no pushChannel", "add the handle from the push service")
        }
        return Installation(
            id: id, userID: try members.text("userId")?.nonEmpty, handle: try handle(channel, platform),
            expiration: try expiration(members), tags: try members.tags() ?? [],
            pushVariables: try members.strings("pushVariables"), templates: try members.templates(),
            secondaryTiles: try secondaryTiles(members, platform))
    }

    /// Reads a hub's response to `GET installations/{id}`, including the members that only the hub sets.
    ///
    /// Throws `installation.invalid`, and the errors of an invalid handle or tag.
    package static func installation(answer body: [UInt8], id: String) throws(PushError) -> Installation {
        let json = try json(body)
        var installation = try installation(json, id: id)
        guard let members = InstallationMembers(json) else { return installation }
        installation.isPushChannelExpired = members["pushChannelExpired"]?.bool ?? members["expiredPushChannel"]?.bool ?? false
        installation.updatedAt = try members.text("lastUpdate").flatMap { Timestamp(iso8601: $0) }
        return installation
    }

    /// Parses a body. Rejects one that is too large or not JSON.
    static func json(_ body: [UInt8]) throws(PushError) -> JSON {
        guard body.count <= Installation.maximumSize else {
            throw PushError(
                "installation.invalid", "the body has \(body.count) bytes; the limit is \(Installation.maximumSize)", hint: "send less",
                status: 413)
        }
        do {
            return try JSON(parsing: body, numbers: .asWritten)
        } catch {
            throw refusal(
                "the body is not JSON: \(error.message.asClause) at line \(error.line), column \(error.column)", "send a JSON document")
        }
    }

    /// Reads a handle: a string, or for browsers an object. .NET encodes the object's JSON as a string.
    private static func handle(_ channel: JSON, _ platform: Platform) throws(PushError) -> DeviceHandle {
        if let text = channel.string { return try DeviceHandle(platform: platform, text: text) }
        guard platform == .browser, channel.object != nil else {
            throw refusal("the pushChannel is not a string", "send the handle from the push service unchanged")
        }
        return try DeviceHandle(subscription: channel)
    }

    /// The expiration time; nil if absent or "never", so that the hub chooses it.
    private static func expiration(_ members: InstallationMembers) throws(PushError) -> Timestamp? {
        guard let text = try members.text("expirationTime")?.nonEmpty else { return nil }
        guard let time = Timestamp(iso8601: text) else {
            throw refusal("invalid expirationTime \"\(text)\"", "write 2026-01-31T12:00:00Z")
        }
        return time >= .distantFuture ? nil : time
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
