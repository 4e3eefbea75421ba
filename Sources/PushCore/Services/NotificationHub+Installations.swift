// Installations: many templates under an id that the client makes.
extension NotificationHub {
    /// Creates or overwrites. A channel that a push service has called dead stays expired until another one comes, and
    /// whether it is expired is the hub's to say.
    package func putInstallation(_ installation: Installation) async throws(PushError) {
        await takeTurn(.installation(installation.id))
        defer { turns.leave(.installation(installation.id)) }
        try checkIsOpen()
        sweep(holding: .installation(installation.id))
        try await put(installation)
    }

    /// With the moment at which it expires, whether its app or the hub chose it.
    package func installation(_ id: String) throws(PushError) -> Installation {
        try storedInstallation(id).dated
    }

    package func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) {
        await takeTurn(.installation(id))
        defer { turns.leave(.installation(id)) }
        try checkIsOpen()
        sweep(holding: .installation(id))
        var installation = try storedInstallation(id).installation
        try installation.apply(operations)
        try await put(installation)
    }

    package func deleteInstallation(_ id: String) async throws(PushError) {
        await takeTurn(.installation(id))
        defer { turns.leave(.installation(id)) }
        try checkIsOpen()
        sweep(holding: .installation(id))
        guard let change = table.removal(ofInstallation: id, because: departure(.deleted)) else { return }
        try await keep(change)
        environment.note(.hub, "installation \(id) deleted")
    }

    /// In the order of installing, but for those that took the place of one that left; stable for whoever pages through,
    /// like the list of registrations. Throws `tag.invalid` for a user who can be none, `hub.continuation`.
    package func installations(_ filter: InstallationFilter, page: Page) throws(PushError) -> InstallationPage {
        sweep()
        let list = try Self.list(filter)
        let (found, last) = table.installations(in: list, behind: try place(page), top: Self.top(page))
        return InstallationPage(installations: found, continuation: last.map { String($0) })
    }

    /// Stores an installation whose turn the caller has.
    private func put(_ installation: Installation) async throws(PushError) {
        let now = environment.clock.now
        var checked = try installation.checked().keepingExpired(table.installation(installation.id)?.installation)
        if let moment = checked.expiration, moment <= now {
            throw PushError(
                "installation.invalid", "the expirationTime \(moment) has passed",
                hint: "give a later one, or none for the hub's own time to live", status: 400)
        }
        checked.expiration = checked.expiration.map { min($0, .distantFuture) }
        checked.updatedAt = now
        let expiration = checked.expiration ?? expiration()
        let targets = try checked.registrations(
            nextID: newRegistrationID, existing: table.registrations(ofInstallation: checked.id), expiration: expiration,
            now: now)
        try await keep(
            table.change(checked, as: targets, expiration: expiration, departure: departure(.installationChanged)))
        environment.note(
            .hub,
            "installation \(checked.id) stored, "
                + (checked.isPushChannelExpired ? "its channel has expired" : "\(targets.count) targets"))
    }

    static func list(_ filter: InstallationFilter) throws(PushError) -> InstallationTable.List? {
        switch filter {
        case .all: return nil
        case .tag(let tag): return .tag(tag)
        case .platform(let platform): return .platform(platform)
        case .user(let id): return .tag(try Tag.addressing(id))
        }
    }

    private func storedInstallation(_ id: String) throws(PushError) -> InstallationTable.Row {
        sweep()
        guard let row = table.installation(id) else {
            throw PushError("hub.not_found", "there is no installation \(id)", hint: "install it first", status: 404)
        }
        return row
    }
}

extension Tag {
    /// `$UserId:{…}` of a user id. Throws `tag.invalid`.
    package static func addressing(_ user: String) throws(PushError) -> Tag {
        do {
            return try Tag.user(user)
        } catch {
            throw PushError(error)
        }
    }
}
