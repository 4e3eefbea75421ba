// Installations: many templates under an id that the client makes.
extension NotificationHub {
    /// Creates or overwrites. A channel that a push service has called dead stays expired until another one comes, and
    /// whether it is expired is the hub's to say.
    package func putInstallation(_ installation: Installation) throws(PushError) {
        sweep()
        var installation = try installation.checked()
        let old = table.installation(installation.id)?.installation
        installation.isPushChannelExpired = old?.handle == installation.handle && old?.isPushChannelExpired == true
        let expiration = installation.expiration ?? expiration()
        let targets = try installation.registrations(
            nextID: newRegistrationID, existing: table.registrations(ofInstallation: installation.id),
            expiration: expiration, now: environment.clock.now)
        table.put(installation, as: installation.isPushChannelExpired ? [] : targets, expiration: expiration)
        environment.note(
            .hub,
            "installation \(installation.id) stored, "
                + (installation.isPushChannelExpired ? "its channel has expired" : "\(targets.count) targets"))
    }

    /// With the moment at which it expires, whether its app or the hub chose it.
    package func installation(_ id: String) throws(PushError) -> Installation {
        try storedInstallation(id).dated
    }

    package func patchInstallation(_ id: String, _ operations: [PatchOperation]) throws(PushError) {
        var installation = try storedInstallation(id).installation
        try installation.apply(operations)
        try putInstallation(installation)
    }

    package func deleteInstallation(_ id: String) {
        sweep()
        table.removeInstallation(id, because: .deleted)
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

    private static func list(_ filter: InstallationFilter) throws(PushError) -> InstallationTable.List? {
        switch filter {
        case .all: return nil
        case .tag(let tag): return .tag(tag)
        case .platform(let platform): return .platform(platform)
        case .user(let id):
            do {
                return .tag(try Tag.user(id))
            } catch {
                throw PushError(error)
            }
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
