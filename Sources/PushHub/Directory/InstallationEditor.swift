import PushModel

/// Creates, changes, reads, lists and deletes installations.
///
/// Not thread-safe: it is part of the actor that owns the directory.
struct InstallationEditor {
    let directory: RegistrationDirectory

    private var context: HubContext { directory.context }

    /// Creates or replaces an installation. A channel that a push service reported as invalid stays expired until the client sends another
    /// one; clients cannot change that state themselves.
    ///
    /// - Parameters:
    ///   - isImported: whether it comes from an import. Hooks and flows are then not called: an import can have many devices.
    ///   - refusal: returns the error that rejects a change; called with the stored installation before anything changes.
    func put(
        _ installation: Installation, isImported: Bool = false, refusing refusal: @Sendable (InstallationChange) -> PushError?
    ) async throws(PushError) {
        let key = RegistrationKey(installation: installation.id)
        await directory.acquire(key)
        defer { directory.release(key) }
        try context.lifecycle.checkIsOpen()
        directory.sweep(holding: key)
        try await store(
            installation, replacing: try await directory.installationRow(installation.id), isImported: isImported, refusing: refusal)
    }

    /// The installation with its effective expiration, set by the app or by the hub.
    func get(_ id: String) async throws(PushError) -> Installation {
        directory.sweep()
        guard let row = try await directory.installationRow(id) else { throw Self.noInstallation(id) }
        return row.dated
    }

    /// - Parameter refusal: as in ``put(_:refusing:)``.
    func patch(
        _ id: String, _ operations: [PatchOperation], refusing refusal: @Sendable (InstallationChange) -> PushError?
    ) async throws(PushError) {
        let key = RegistrationKey(installation: id)
        await directory.acquire(key)
        defer { directory.release(key) }
        try context.lifecycle.checkIsOpen()
        directory.sweep(holding: key)
        guard let row = try await directory.installationRow(id) else { throw Self.noInstallation(id) }
        var installation = row.installation
        try installation.apply(operations)
        try await store(installation, replacing: row, isImported: false, refusing: refusal)
    }

    func delete(_ id: String) async throws(PushError) {
        let key = RegistrationKey(installation: id)
        await directory.acquire(key)
        defer { directory.release(key) }
        try context.lifecycle.checkIsOpen()
        directory.sweep(holding: key)
        guard let row = try await directory.installationRow(id) else { return }
        let existing = try await directory.rows(at: directory.table.rows(ofInstallation: id))
        guard var change = directory.table.removal(ofInstallation: id, because: directory.tombstone(.deleted)) else { return }
        change.events = context.events.deletion("installation", id, row.installation.handle.platform)
        try await directory.commit(change, replacing: ReplacedRows(existing, [row]))
        context.environment.note(.hub, "installation \(id) deleted")
    }

    /// Lists installations in the order of their rows, with stable paging, as ``RegistrationEditor/list(_:page:)`` does. Throws
    /// `tag.invalid` for an invalid user id, and `hub.continuation`.
    func list(_ filter: InstallationFilter, page: Page) async throws(PushError) -> InstallationPage {
        directory.sweep()
        var (tags, platform): ([Tag], Platform?) = ([], nil)
        switch filter {
        case .all: break
        case .tag(let tag): tags = [tag]
        case .platform(let wanted): platform = wanted
        case .user(let id): tags = [try Tag.addressing(id)]
        }
        let (found, last) = directory.table.installations.page(tagged: tags, on: platform, behind: try page.row, top: page.size)
        let rows = try await directory.installationRows(stillAt: found).filter { $0.installation.isListed(under: tags, on: platform) }
        return InstallationPage(installations: rows.map(\.dated), continuation: last.map { String($0) })
    }

    /// Rejects an id that differs from an existing one only in case. Tags ignore case, so both would have the tag `$InstallationId:{…}`,
    /// and the second installation would receive what is sent to the first. The caller holds the lock, which both ids share.
    private func checkHasOwnTag(_ id: String) throws(PushError) {
        guard let other = directory.otherOwner(ofTagOf: id) else { return }
        throw PushError(
            "installation.invalid", "the id \"\(id)\" differs from that of the installation \"\(other)\" in case only; not stored",
            hint: "write the id as it was first written, or choose another one", status: 400, details: ["text": .string(id)])
    }

    /// Stores an installation whose lock the caller holds.
    ///
    /// - Parameter row: the stored row that it replaces.
    private func store(
        _ installation: Installation, replacing row: InstallationRow?, isImported: Bool,
        refusing refusal: (InstallationChange) -> PushError?
    ) async throws(PushError) {
        try checkHasOwnTag(installation.id)
        var checked = try installation.checked().preservingExpired(row?.installation)
        if let error = refusal(InstallationChange(old: row?.installation, new: checked)) { throw error }
        var draft: RegistrationDraft?
        if !isImported, context.environment.hooks.hasHook(.onRegister) {
            try checkExpiration(of: checked)
            let answer = try await directory.applyHooks(
                RegistrationDraft(checked, hub: context.name, isNew: row == nil, origin: HookOrigin.plugins))
            var changed = installation
            changed.tags = answer.tags
            (checked, draft) = (try changed.checked().preservingExpired(row?.installation), answer)
        }
        try checkExpiration(of: checked)
        let now = context.now
        checked.expiration = checked.expiration.map { min($0, .distantFuture) }
        checked.updatedAt = now
        let expiration = checked.expiration ?? directory.expiration()
        let existing = try await directory.rows(at: directory.table.rows(ofInstallation: checked.id))
        let targets = try checked.registrations(
            nextID: directory.newRegistrationID, existing: existing.map(\.registration), expiration: expiration, now: now)
        var change = directory.table.change(
            checked, as: targets, expiration: expiration, tombstone: directory.tombstone(.installationChanged))
        if !isImported { change.events = context.events.events(of: checked, isNew: row == nil) }
        try await directory.commit(
            change, replacing: ReplacedRows(existing, row.map { [$0] } ?? []))
        directory.registered(draft)
        context.environment.note(
            .hub,
            "installation \(checked.id) stored, "
                + (checked.isPushChannelExpired ? "its channel has expired" : "\(targets.count) targets"))
    }

    private func checkExpiration(of installation: Installation) throws(PushError) {
        guard let time = installation.expiration, time <= context.now else { return }
        throw PushError(
            "installation.invalid", "the expirationTime \(time) has passed",
            hint: "give a later time, or none to use the hub's time to live", status: 400)
    }

    private static func noInstallation(_ id: String) -> PushError {
        PushError("hub.not_found", "unknown installation \"\(id)\"", hint: "install it first", status: 404)
    }
}

extension RegistrationDraft {
    fileprivate init(_ installation: Installation, hub: String, isNew: Bool, origin: [String]) {
        self.init(
            hub: hub,
            subject: RegistrationDraft.Subject(
                .installation, id: installation.id, platform: installation.handle.platform, userID: installation.userID),
            tags: installation.tags, templates: installation.templates.keys.sorted(), isNew: isNew, origin: origin)
    }
}

extension Installation {
    /// Whether a list with these filters contains the installation.
    func isListed(under tags: [Tag], on platform: Platform?) -> Bool {
        (platform == nil || platform == handle.platform) && Set(lists).isSuperset(of: tags)
    }
}

extension InstallationRow {
    /// The installation with its effective expiration, as clients see it.
    var dated: Installation {
        var dated = installation
        dated.expiration = expiration
        return dated
    }
}
