/// A device as its app describes it: one push channel, any number of templates, and an id that the client chooses.
package struct Installation: Sendable, Equatable {
    package var id: String
    package var userID: String?
    package var handle: DeviceHandle
    /// The push service has reported the handle as invalid; set by the hub. Cleared when the channel changes.
    package var isPushChannelExpired = false
    package var expiration: Timestamp?
    package var tags: [Tag]
    package var pushVariables: [String: String]
    /// By template name.
    package var templates: [String: InstallationTemplate]
    /// Further channels of the same device (WNS), by tile id.
    package var secondaryTiles: [String: SecondaryTile]
    /// The time of the last write; set by the hub.
    package var updatedAt: Timestamp?

    package init(
        id: String, userID: String? = nil, handle: DeviceHandle, expiration: Timestamp? = nil, tags: [Tag] = [],
        pushVariables: [String: String] = [:], templates: [String: InstallationTemplate] = [:],
        secondaryTiles: [String: SecondaryTile] = [:]
    ) {
        self.id = id
        self.userID = userID
        self.handle = handle
        self.expiration = expiration
        self.tags = tags
        self.pushVariables = pushVariables
        self.templates = templates
        self.secondaryTiles = secondaryTiles
    }
}

/// A pinned tile: its own channel, with tags and templates like the main channel's.
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
    /// Nil or empty: the template's name becomes its tag.
    package var tags: [Tag]?

    package init(body: String, headers: [PushHeader] = [], expiry: String? = nil, tags: [Tag]? = nil) {
        self.body = body
        self.headers = headers
        self.expiry = expiry
        self.tags = tags
    }
}

extension Installation {
    /// Maximum size of an installation's body in bytes, and of an installation after changes.
    package static let maximumSize = 256 << 10
    /// Maximum number of templates, including those of tiles: each becomes a registration.
    package static let maximumTemplates = 100
    /// Maximum number of secondary tiles.
    package static let maximumTiles = 100

    /// Throws `installation.invalid` for too many templates or tiles.
    func checkCounts() throws(PushError) {
        let templates = secondaryTiles.values.reduce(templates.count) { $0 + $1.templates.count }
        for (count, limit, noun) in [
            (templates, Self.maximumTemplates, "templates"), (secondaryTiles.count, Self.maximumTiles, "secondary tiles"),
        ] where count > limit {
            throw PushError(
                "installation.invalid", "the installation has \(count) \(noun); the limit is \(limit)",
                hint: "each becomes a registration: remove those that no send uses", status: 400)
        }
    }

    /// Checks the total size, because patches can grow an installation beyond the limit of a body.
    private func checkSize() throws(PushError) {
        var size = tags.size + pushVariables.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } + templates.size
        for tile in secondaryTiles.values { size += tile.tags.size + tile.templates.size }
        guard size > Self.maximumSize else { return }
        throw PushError(
            "installation.invalid",
            "the installation's tags, templates and push variables have \(size) bytes; the limit is \(Self.maximumSize)",
            hint: "remove what is not needed", status: 413)
    }

    /// The installation as the hub stores it: handles and tags in canonical form, and each template without tags tagged with its own name,
    /// so that a send can address one template.
    package func checked() throws(PushError) -> Installation {
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
                    "installation.invalid", "the secondary tile \"\(tileID)\" is not supported: only Windows has tiles",
                    hint: "remove the tile", status: 400)
            }
            checked.secondaryTiles[tileID]?.handle = try tile.handle.checked()
            checked.secondaryTiles[tileID]?.tags = try tile.tags.checked()
            checked.secondaryTiles[tileID]?.templates = try tile.templates.checked()
        }
        return checked
    }

    /// The registrations that represent this installation. Each channel that is not expired has a native one and one per template. All are
    /// tagged with `$InstallationId:{…}` and `$UserId:{…}`, so that sends can address the installation.
    package func registrations(
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
                description: RegistrationDescription(
                    handle: handle, tags: tags, template: template, pushVariables: pushVariables, secondaryTile: tile),
                installationID: id)
        }
        func registrations(
            _ handle: DeviceHandle, tile: String?, tags: [Tag], templates: [String: InstallationTemplate]
        ) throws(PushError) -> [Registration] {
            var all = [registration(handle, tile: tile, template: nil, tags: try tags.adding(ofHub: addresses))]
            // Check the tags before compiling templates, which is the most expensive step.
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
        // Build the registrations of expired channels as well, to report errors in them.
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
                "installation.invalid", "the installation's id or user id cannot be a tag: \(error.message.asClause)",
                hint: "use letters, digits and - _ @ # . : =", status: 400, details: ["text": .string(error.text)])
        }
    }

    /// Takes the expired flags from the stored installation, because only the hub sets them: a channel reported as invalid stays expired
    /// until another replaces it.
    package func preservingExpired(_ old: Installation?) -> Installation {
        var merged = self
        merged.isPushChannelExpired = old?.handle == handle && old?.isPushChannelExpired == true
        for (tileID, tile) in secondaryTiles {
            let before = old?.secondaryTiles[tileID]
            merged.secondaryTiles[tileID]?.isPushChannelExpired =
                before?.handle == tile.handle && before?.isPushChannelExpired == true
        }
        return merged
    }

    /// Marks this channel as expired, because a push service reported it as invalid.
    package func expiring(_ channel: DeviceHandle) -> Installation {
        var expired = self
        if handle == channel { expired.isPushChannelExpired = true }
        for (tileID, tile) in secondaryTiles where tile.handle == channel {
            expired.secondaryTiles[tileID]?.isPushChannelExpired = true
        }
        return expired
    }

    /// Clears the expired flag of this channel. Nil if the installation has no such expired channel: the app has set another channel, or
    /// this one again.
    package func clearingExpired(_ channel: DeviceHandle) -> Installation? {
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
            // A name such as $UserId:{…} must not become a tag: it would address another user.
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

extension InstallationTemplate {
    /// Expressions inside longer values of the body, then of the headers. None in an invalid body.
    package var embeddedExpressions: [EmbeddedExpression] {
        ((try? Template(compiling: body))?.embeddedExpressions ?? []) + headers.compactMap(\.embeddedExpression)
    }
}

extension Installation {
    /// Expressions inside longer values of its templates and those of its tiles, in the order of their names.
    package var embeddedExpressions: [EmbeddedExpression] {
        let all = [templates] + secondaryTiles.sorted { $0.key < $1.key }.map(\.value.templates)
        return all.flatMap { $0.sorted { $0.key < $1.key }.flatMap(\.value.embeddedExpressions) }
    }
}
