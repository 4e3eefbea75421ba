/// A device as its app describes it: one channel, many templates, an id that the client makes.
package struct Installation: Sendable, Equatable {
    package var id: String
    package var userID: String?
    package var handle: DeviceHandle
    /// The push service has said that the handle is dead; cleared when the channel changes.
    package var isPushChannelExpired: Bool
    package var expiration: Timestamp?
    package var tags: [Tag]
    package var pushVariables: [String: String]
    /// By template name.
    package var templates: [String: InstallationTemplate]
    /// Further channels of the same device, by tile id (WNS).
    package var secondaryTiles: [String: SecondaryTile]
    /// When it was last written; the hub's to say.
    package var updatedAt: Timestamp?

    package init(
        id: String, userID: String? = nil, handle: DeviceHandle, isPushChannelExpired: Bool = false,
        expiration: Timestamp? = nil, tags: [Tag] = [], pushVariables: [String: String] = [:],
        templates: [String: InstallationTemplate] = [:], secondaryTiles: [String: SecondaryTile] = [:],
        updatedAt: Timestamp? = nil
    ) {
        self.id = id
        self.userID = userID
        self.handle = handle
        self.isPushChannelExpired = isPushChannelExpired
        self.expiration = expiration
        self.tags = tags
        self.pushVariables = pushVariables
        self.templates = templates
        self.secondaryTiles = secondaryTiles
        self.updatedAt = updatedAt
    }
}

/// A tile that the user pinned: it has a channel of its own, and what its installation has for the main one.
package struct SecondaryTile: Sendable, Equatable {
    package var handle: DeviceHandle
    package var isPushChannelExpired: Bool
    package var tags: [Tag]
    /// By template name.
    package var templates: [String: InstallationTemplate]

    package init(
        handle: DeviceHandle, isPushChannelExpired: Bool = false, tags: [Tag] = [],
        templates: [String: InstallationTemplate] = [:]
    ) {
        self.handle = handle
        self.isPushChannelExpired = isPushChannelExpired
        self.tags = tags
        self.templates = templates
    }
}

package struct InstallationTemplate: Sendable, Equatable {
    package var body: String
    package var headers: [PushHeader]
    package var expiry: String?
    /// Nil or empty: the hub takes the template's own name.
    package var tags: [Tag]?

    package init(body: String, headers: [PushHeader] = [], expiry: String? = nil, tags: [Tag]? = nil) {
        self.body = body
        self.headers = headers
        self.expiry = expiry
        self.tags = tags
    }
}

extension Installation {
    /// The installation as the hub keeps it: the handles and the tags as they are compared, and each template without
    /// tags tagged with its own name, so that a send can name one template.
    func checked() throws(PushError) -> Installation {
        guard !id.isEmpty else {
            throw PushError(
                "installation.invalid", "the installation id is empty", hint: "name the device", status: 400)
        }
        var checked = self
        checked.handle = try handle.checked()
        checked.tags = try tags.checked()
        checked.templates = templates.tagged
        for (tileID, tile) in secondaryTiles {
            guard [.wns, .mpns].contains(handle.platform), tile.handle.platform == handle.platform else {
                throw PushError(
                    "installation.invalid", "the secondary tile \"\(tileID)\" is of no use: only Windows has such tiles",
                    hint: "leave it out", status: 400)
            }
            checked.secondaryTiles[tileID]?.handle = try tile.handle.checked()
            checked.secondaryTiles[tileID]?.tags = try tile.tags.checked()
            checked.secondaryTiles[tileID]?.templates = tile.templates.tagged
        }
        return checked
    }

    /// The registrations that stand for this installation: for each channel that has not expired a native one and one per
    /// template, tagged with `$InstallationId:{…}` and `$UserId:{…}` so that sends can address it.
    func registrations(
        nextID: () -> RegistrationID, existing: [Registration], expiration: Timestamp, now: Timestamp
    ) throws(PushError) -> [Registration] {
        let addresses = try addresses()
        var known: [Role: Registration] = [:]
        for registration in existing {
            known[Role(tile: registration.secondaryTile, template: registration.template?.name)] = registration
        }
        func registration(
            _ handle: DeviceHandle, tile: String?, template: RegistrationTemplate?, tags: [Tag]
        ) throws(PushError) -> Registration {
            let old = known[Role(tile: tile, template: template?.name)]
            return Registration(
                id: old?.id ?? nextID(), etag: (old?.etag ?? 0) + 1, expiration: expiration, updatedAt: now,
                handle: handle, tags: try (tags + addresses).checked(), template: template,
                pushVariables: pushVariables, installationID: id, secondaryTile: tile)
        }
        func registrations(
            _ handle: DeviceHandle, tile: String?, tags: [Tag], templates: [String: InstallationTemplate]
        ) throws(PushError) -> [Registration] {
            var all = [try registration(handle, tile: tile, template: nil, tags: tags)]
            for (name, template) in templates.sorted(by: { $0.key < $1.key }) {
                let compiled = try RegistrationTemplate(
                    name: name, body: template.body, headers: template.headers, expiry: template.expiry,
                    platform: handle.platform)
                all.append(
                    try registration(handle, tile: tile, template: compiled, tags: tags + (template.tags ?? [])))
            }
            return all
        }
        // All are put together, so that what is wrong with one that is off the air is said as well.
        let main = try registrations(handle, tile: nil, tags: tags, templates: templates)
        var all = isPushChannelExpired ? [] : main
        for (tileID, tile) in secondaryTiles.sorted(by: { $0.key < $1.key }) {
            let its = try registrations(tile.handle, tile: tileID, tags: tile.tags, templates: tile.templates)
            if !tile.isPushChannelExpired { all += its }
        }
        return all
    }

    private struct Role: Hashable {
        let tile: String?
        let template: String?
    }

    private func addresses() throws(PushError) -> [Tag] {
        do {
            return [try Tag.installation(id)] + (try userID.map { user throws(TagError) in [try Tag.user(user)] } ?? [])
        } catch {
            throw PushError(
                "installation.invalid", "the installation's id or user id cannot be a tag: \(error.message)",
                hint: "use letters, digits and - _ @ # . : =", status: 400, details: ["text": .string(error.text)])
        }
    }

    /// Whether a channel is expired is the hub's to say: one that a push service has called dead stays so until another
    /// comes.
    func keepingExpired(_ old: Installation?) -> Installation {
        var kept = self
        kept.isPushChannelExpired = old?.handle == handle && old?.isPushChannelExpired == true
        for (tileID, tile) in secondaryTiles {
            let before = old?.secondaryTiles[tileID]
            kept.secondaryTiles[tileID]?.isPushChannelExpired =
                before?.handle == tile.handle && before?.isPushChannelExpired == true
        }
        return kept
    }

    /// Notes that a push service has called this channel dead.
    func expiring(_ channel: DeviceHandle) -> Installation {
        var expired = self
        if handle == channel { expired.isPushChannelExpired = true }
        for (tileID, tile) in secondaryTiles where tile.handle == channel {
            expired.secondaryTiles[tileID]?.isPushChannelExpired = true
        }
        return expired
    }
}

extension [String: InstallationTemplate] {
    fileprivate var tagged: Self {
        Dictionary(
            uniqueKeysWithValues: map { name, template in
                var tagged = template
                tagged.body = template.body.withoutByteOrderMark
                tagged.tags = (template.tags ?? []).uniqued()
                if tagged.tags?.isEmpty == true { tagged.tags = Tag(validating: name).map { [$0] } ?? [] }
                return (name, tagged)
            })
    }
}
