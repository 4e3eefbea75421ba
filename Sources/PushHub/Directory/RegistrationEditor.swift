import PushModel

/// Creates, reads, lists and deletes registrations.
///
/// Not thread-safe: it is part of the actor that owns the directory.
struct RegistrationEditor {
    let directory: RegistrationDirectory

    private var context: HubContext { directory.context }

    func createID() -> RegistrationID {
        let id = directory.newRegistrationID()
        context.environment.note(.hub, "registration id \(id) issued")
        return id
    }

    /// Stores a registration.
    ///
    /// - Parameters:
    ///   - mustExist: whether to throw `hub.not_found` instead of creating a registration.
    ///   - isImported: whether it comes from an import file. Hooks are then not called: a file can have many lines.
    func put(
        _ id: RegistrationID, _ description: RegistrationDescription, ifMatch: Int?, mustExist: Bool, isImported: Bool
    ) async throws(PushError) -> Registration {
        await directory.acquire(.registration(id))
        defer { directory.release(.registration(id)) }
        try context.lifecycle.checkIsOpen()
        directory.sweep(holding: .registration(id))
        let row = try await directory.row(id)
        if let tombstone = directory.table.tombstone(of: id) { throw goneError(id, tombstone.reason) }
        let existing = row?.registration
        if mustExist {
            guard let existing else { throw notFound(id) }
            try check(existing, ifMatch: ifMatch)
        }
        if let existing { try checkIsNoInstallation(existing) }
        let handle = try description.handle.checked()
        if let template = description.template, template.platform != handle.platform {
            throw PushError(
                "template.platform",
                "the template is for \(template.platform.displayName), the handle for \(handle.platform.displayName)",
                hint: "use a template for the platform of the handle", status: 400)
        }
        var tags = try description.tags.checked()
        var draft: RegistrationDraft?
        if !isImported, context.environment.hooks.hasHook(.onRegister) {
            let answer = try await directory.applyHooks(
                RegistrationDraft(
                    hub: context.name, subject: RegistrationDraft.Subject(.registration, id: id.text, platform: handle.platform),
                    tags: tags,
                    isNew: existing == nil, origin: HookOrigin.plugins))
            (tags, draft) = (try answer.tags.checked(), answer)
        }
        let registration = Registration(
            id: id, etag: (existing?.etag ?? 0) + 1, expiration: directory.expiration(), updatedAt: context.now,
            description: RegistrationDescription(
                handle: handle, tags: tags, template: description.template, pushVariables: description.pushVariables,
                secondaryTile: description.secondaryTile))
        var change = RegistrationChange(puts: [directory.table.placed(registration)])
        if !isImported { change.events = context.events.events(of: registration, isNew: existing == nil) }
        try await directory.commit(change, replacing: ReplacedRows(row.map { [$0] } ?? []))
        directory.registered(draft)
        context.environment.note(
            .hub,
            "registration \(id) stored: \(registration.platform.displayName) \(handle.abbreviated), "
                + "tags \(registration.tags.map(\.text).joined(separator: ", "))")
        return registration
    }

    func get(_ id: RegistrationID) async throws(PushError) -> Registration {
        directory.sweep()
        guard let row = try await directory.row(id) else { throw notFound(id) }
        return row.registration
    }

    func exists(_ id: RegistrationID) -> Bool {
        directory.sweep()
        return directory.table.row(of: id) != nil
    }

    func delete(_ id: RegistrationID, ifMatch: Int?) async throws(PushError) {
        await directory.acquire(.registration(id))
        defer { directory.release(.registration(id)) }
        try context.lifecycle.checkIsOpen()
        directory.sweep(holding: .registration(id))
        guard let row = try await directory.row(id), let removal = directory.table.removal(of: id, because: directory.tombstone(.deleted))
        else { throw notFound(id) }
        try check(row.registration, ifMatch: ifMatch)
        try checkIsNoInstallation(row.registration)
        var change = RegistrationChange(removals: [removal])
        change.events = context.events.deletion("registration", id.text, row.registration.platform)
        try await directory.commit(change, replacing: ReplacedRows([row]))
        context.environment.note(.hub, "registration \(id) deleted")
    }

    /// Lists registrations in the order of their rows: creation order, except that a new registration may reuse the row of a deleted one.
    /// Paging returns every registration that stays exactly once, whatever else is added or deleted meanwhile.
    func list(_ filter: RegistrationFilter, page: Page) async throws(PushError) -> RegistrationPage {
        directory.sweep()
        var filter = filter
        if case .handle(let handle) = filter { filter = .handle(try handle.checked()) }
        let (found, last) = RowPager(table: directory.table).page(filter, behind: try page.row, top: page.size)
        let rows = try await directory.rows(stillAt: found).lazy.map(\.registration).filter { $0.isMeant(by: filter) }
        return RegistrationPage(registrations: Array(rows), continuation: last.map { String($0) })
    }

    // MARK: - Checks

    private func goneError(_ id: RegistrationID, _ reason: RegistrationTombstone.Reason) -> PushError {
        let why =
            switch reason {
            case .deleted: "has been deleted"
            case .expired: "has expired"
            case .invalidHandle(let report): "was removed: \(report.text)"
            case .installationChanged: "was removed by a change of its installation"
            }
        return PushError(
            "hub.gone", "registration id \(id) \(why)", hint: "request a new id and register again", status: 410)
    }

    private func checkIsNoInstallation(_ registration: Registration) throws(PushError) {
        guard let installation = registration.installationID else { return }
        throw PushError(
            "hub.installation", "registration \(registration.id) belongs to the installation \(installation); not changed",
            hint: "change the installation", status: 409)
    }

    private func notFound(_ id: RegistrationID) -> PushError {
        PushError("hub.not_found", "unknown registration \"\(id)\"", hint: "create it first", status: 404)
    }

    private func check(_ registration: Registration, ifMatch: Int?) throws(PushError) {
        guard let ifMatch, ifMatch != registration.etag else { return }
        throw PushError(
            "hub.precondition_failed",
            "registration \(registration.id) has ETag \(registration.etag), not \(ifMatch): it was changed meanwhile",
            hint: "read it again and repeat the change", status: 412)
    }
}

extension Registration {
    /// Whether the filter matches. The registration may have changed since its row was found.
    fileprivate func isMeant(by filter: RegistrationFilter) -> Bool {
        switch filter {
        case .all: return true
        case .tag(let tag): return tags.contains(tag)
        case .handle(let handle): return self.handle == handle
        case .endpoint(let endpoint):
            if case .browser(endpoint, _, _) = handle { return true }
            return false
        }
    }
}
