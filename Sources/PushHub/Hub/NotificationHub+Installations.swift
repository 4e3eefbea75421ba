import PushModel

// Installations: a device with any number of templates, under an id that the client chooses.
extension NotificationHub {
    /// Creates or replaces an installation. A channel that a push service reported as invalid stays expired until the client sends another
    /// one; clients cannot change that state themselves.
    package func putInstallation(_ installation: Installation) async throws(PushError) {
        try await putInstallation(installation, refusing: { _ in nil })
    }

    /// - Parameter refusal: returns the error that rejects a change; called with the stored installation before anything changes.
    package func putInstallation(
        _ installation: Installation, refusing refusal: @Sendable (InstallationChange) -> PushError?
    ) async throws(PushError) {
        await takeTurn(.installation(installation.id))
        defer { turns.leave(.installation(installation.id)) }
        try checkIsOpen()
        sweep(holding: .installation(installation.id))
        try await put(installation, replacing: try await installationRow(installation.id), refusing: refusal)
    }

    /// The installation with its effective expiration, set by the app or by the hub.
    package func installation(_ id: String) async throws(PushError) -> Installation {
        sweep()
        guard let row = try await installationRow(id) else { throw Self.noInstallation(id) }
        return row.dated
    }

    package func patchInstallation(_ id: String, _ operations: [PatchOperation]) async throws(PushError) {
        try await patchInstallation(id, operations, refusing: { _ in nil })
    }

    /// - Parameter refusal: as in ``putInstallation(_:refusing:)``.
    package func patchInstallation(
        _ id: String, _ operations: [PatchOperation], refusing refusal: @Sendable (InstallationChange) -> PushError?
    ) async throws(PushError) {
        await takeTurn(.installation(id))
        defer { turns.leave(.installation(id)) }
        try checkIsOpen()
        sweep(holding: .installation(id))
        guard let row = try await installationRow(id) else { throw Self.noInstallation(id) }
        var installation = row.installation
        try installation.apply(operations)
        try await put(installation, replacing: row, refusing: refusal)
    }

    package func deleteInstallation(_ id: String) async throws(PushError) {
        await takeTurn(.installation(id))
        defer { turns.leave(.installation(id)) }
        try checkIsOpen()
        sweep(holding: .installation(id))
        guard let row = try await installationRow(id) else { return }
        let existing = try await rows(at: table.places(ofInstallation: id))
        guard var change = table.removal(ofInstallation: id, because: departure(.deleted)) else { return }
        change.events = deletion("installation", id, row.installation.handle.platform)
        try await keep(change, replacing: ReplacedRows(existing, [row]))
        environment.note(.hub, "installation \(id) deleted")
    }

    /// Lists installations in the order of their rows, with stable paging, as ``registrations(_:page:)`` does. Throws `tag.invalid` for an
    /// invalid user id, and `hub.continuation`.
    package func installations(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage {
        sweep()
        var (tags, platform): ([Tag], Platform?) = ([], nil)
        switch filter {
        case .all: break
        case .tag(let tag): tags = [tag]
        case .platform(let wanted): platform = wanted
        case .user(let id): tags = [try Tag.addressing(id)]
        }
        let (found, last) = table.installations.page(tagged: tags, on: platform, behind: try place(page), top: Self.top(page))
        let rows = try await installationRows(stillAt: found).filter { $0.installation.isListed(under: tags, on: platform) }
        return InstallationPage(installations: rows.map(\.dated), continuation: last.map { String($0) })
    }

    /// Rejects an id that differs from an existing one only in case. Tags ignore case, so both would have the tag `$InstallationId:{…}`,
    /// and the second installation would receive what is sent to the first.
    private func checkHasOwnTag(_ id: String) throws(PushError) {
        guard let tag = try? Tag.installation(id) else { return }
        for row in table.index.places(of: tag).places {
            guard let other = table.installationID(at: row), other != id, (try? Tag.installation(other)) == tag else { continue }
            throw PushError(
                "installation.invalid", "the id \"\(id)\" differs from that of the installation \"\(other)\" in case only; not stored",
                hint: "write the id as it was first written, or choose another one", status: 400, details: ["text": .string(id)])
        }
    }

    /// Stores an installation whose lock the caller holds.
    ///
    /// - Parameter row: the stored row that it replaces.
    private func put(
        _ installation: Installation, replacing row: InstallationRow?, refusing refusal: (InstallationChange) -> PushError?
    ) async throws(PushError) {
        try checkHasOwnTag(installation.id)
        var checked = try installation.checked().preservingExpired(row?.installation)
        if let error = refusal(InstallationChange(old: row?.installation, new: checked)) { throw error }
        var draft: RegistrationDraft?
        if environment.hooks.isWanted(.onRegister) {
            try checkExpiration(of: checked)
            let answer = try await asked(RegistrationDraft(checked, hub: name, isNew: row == nil, origin: HookOrigin.plugins))
            var changed = installation
            changed.tags = answer.tags
            (checked, draft) = (try changed.checked().preservingExpired(row?.installation), answer)
        }
        try checkExpiration(of: checked)
        let now = environment.clock.now
        checked.expiration = checked.expiration.map { min($0, .distantFuture) }
        checked.updatedAt = now
        let expiration = checked.expiration ?? expiration()
        let existing = try await rows(at: table.places(ofInstallation: checked.id))
        let targets = try checked.registrations(
            nextID: newRegistrationID, existing: existing.map(\.registration), expiration: expiration, now: now)
        var change = table.change(checked, as: targets, expiration: expiration, departure: departure(.installationChanged))
        change.events = events(of: checked, isNew: row == nil)
        try await keep(
            change, replacing: ReplacedRows(existing, row.map { [$0] } ?? []))
        registered(draft)
        environment.note(
            .hub,
            "installation \(checked.id) stored, "
                + (checked.isPushChannelExpired ? "its channel has expired" : "\(targets.count) targets"))
    }

    private func checkExpiration(of installation: Installation) throws(PushError) {
        guard let moment = installation.expiration, moment <= environment.clock.now else { return }
        throw PushError(
            "installation.invalid", "the expirationTime \(moment) has passed",
            hint: "give a later time, or none to use the hub's time to live", status: 400)
    }

    private static func noInstallation(_ id: String) -> PushError {
        PushError("hub.not_found", "there is no installation \(id)", hint: "install it first", status: 404)
    }
}

extension RegistrationDraft {
    fileprivate init(_ installation: Installation, hub: String, isNew: Bool, origin: [String]) {
        self.init(
            hub: hub, kind: .installation, id: installation.id, platform: installation.handle.platform, userID: installation.userID,
            tags: installation.tags, templates: installation.templates.keys.sorted(), isNew: isNew, origin: origin)
    }
}

extension Installation {
    /// Whether a list with these filters contains the installation.
    func isListed(under tags: [Tag], on platform: Platform?) -> Bool {
        (platform == nil || platform == handle.platform) && Set(lists).isSuperset(of: tags)
    }
}
