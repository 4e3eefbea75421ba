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
    /// The largest body of an installation, in bytes, and the most that changes may make of one.
    package static let maximumSize = 256 << 10
    /// Most templates, those of tiles among them: each is a registration of its own.
    package static let maximumTemplates = 100
    /// Most secondary tiles.
    package static let maximumTiles = 100

    /// Throws `installation.invalid` for too many templates or tiles.
    func checkCounts() throws(PushError) {
        let templates = secondaryTiles.values.reduce(templates.count) { $0 + $1.templates.count }
        for (count, limit, noun) in [
            (templates, Self.maximumTemplates, "templates"), (secondaryTiles.count, Self.maximumTiles, "secondary tiles"),
        ] where count > limit {
            throw PushError(
                "installation.invalid", "the installation has \(count) \(noun); the limit is \(limit)",
                hint: "each is a registration of its own: keep those that sends are addressed to", status: 400)
        }
    }

    /// Patches can add up to more than any body has.
    private func checkSize() throws(PushError) {
        var size = tags.size + pushVariables.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } + templates.size
        for tile in secondaryTiles.values { size += tile.tags.size + tile.templates.size }
        guard size > Self.maximumSize else { return }
        throw PushError(
            "installation.invalid",
            "the installation's tags, templates and push variables have \(size) bytes; the limit is \(Self.maximumSize)",
            hint: "remove what is not needed first", status: 413)
    }

    /// The installation as the hub keeps it: the handles and the tags as they are compared, and each template without
    /// tags tagged with its own name, so that a send can name one template.
    func checked() throws(PushError) -> Installation {
        guard !id.isEmpty else {
            throw PushError(
                "installation.invalid", "the installation id is empty", hint: "name the device", status: 400)
        }
        try checkCounts()
        try checkSize()
        var checked = self
        checked.handle = try handle.checked()
        checked.tags = try tags.checked()
        checked.templates = try templates.checked()
        for (tileID, tile) in secondaryTiles {
            guard [.wns, .mpns].contains(handle.platform), tile.handle.platform == handle.platform else {
                throw PushError(
                    "installation.invalid", "the secondary tile \"\(tileID)\" is of no use: only Windows has such tiles",
                    hint: "leave it out", status: 400)
            }
            checked.secondaryTiles[tileID]?.handle = try tile.handle.checked()
            checked.secondaryTiles[tileID]?.tags = try tile.tags.checked()
            checked.secondaryTiles[tileID]?.templates = try tile.templates.checked()
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
        ) -> Registration {
            let old = known[Role(tile: tile, template: template?.name)]
            return Registration(
                id: old?.id ?? nextID(), etag: (old?.etag ?? 0) + 1, expiration: expiration, updatedAt: now,
                handle: handle, tags: tags, template: template,
                pushVariables: pushVariables, installationID: id, secondaryTile: tile)
        }
        func registrations(
            _ handle: DeviceHandle, tile: String?, tags: [Tag], templates: [String: InstallationTemplate]
        ) throws(PushError) -> [Registration] {
            var all = [registration(handle, tile: tile, template: nil, tags: try tags.adding(ofHub: addresses))]
            // Compiling is the most work: whose tags do not fit need not get that far.
            let tagged = try templates.sorted { $0.key < $1.key }.map { name, template throws(PushError) in
                (name, template, tags: try (tags + (template.tags ?? [])).adding(ofHub: addresses))
            }
            for (name, template, tags) in tagged {
                let compiled = try RegistrationTemplate(
                    name: name, body: template.body, headers: template.headers, expiry: template.expiry,
                    platform: handle.platform)
                all.append(registration(handle, tile: tile, template: compiled, tags: tags))
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

    /// Takes that back. Nil where there is no such channel that is expired: the app has given another one, or this one again.
    func reviving(_ channel: DeviceHandle) -> Installation? {
        var revived = self
        if handle == channel { revived.isPushChannelExpired = false }
        for (tileID, tile) in secondaryTiles where tile.handle == channel {
            revived.secondaryTiles[tileID]?.isPushChannelExpired = false
        }
        return revived == self ? nil : revived
    }
}

extension [Tag] {
    fileprivate var size: Int { reduce(0) { $0 + $1.text.utf8.count } }
}

extension [String: InstallationTemplate] {
    fileprivate func checked() throws(PushError) -> Self {
        var checked = self
        for (name, template) in self {
            var tags = try (template.tags ?? []).checked()
            // A name such as $UserId:{…} would address another user.
            if tags.isEmpty { tags = Tag(validating: name).map { $0.isReserved ? [] : [$0] } ?? [] }
            checked[name]?.body = template.body.withoutByteOrderMark
            checked[name]?.tags = tags
        }
        return checked
    }

    fileprivate var size: Int {
        values.reduce(0) { size, template in
            let headers = template.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
            return size + template.body.utf8.count + headers + (template.expiry?.utf8.count ?? 0) + (template.tags ?? []).size
        }
    }
}
