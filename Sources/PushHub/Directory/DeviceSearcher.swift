package import PushModel

/// Searches devices by their properties, for operators.
///
/// Not thread-safe: it is part of the actor that owns the directory.
struct DeviceSearcher {
    let directory: RegistrationDirectory

    /// A page of the installations that match all criteria, each with the result of its last push.
    func installations(_ search: DeviceSearch, page: Page) async throws(PushError) -> InstallationSearchPage {
        directory.sweep()
        let userTag = try search.user.map { user throws(PushError) in try Tag.addressing(user) }
        let tags = [userTag, search.tag].compactMap { $0 }
        let (found, last) = directory.table.installations.page(
            tagged: tags, on: search.platform, behind: try page.row, top: page.size
        ) { row in
            search.lastOutcome == nil || lastOutcome(ofInstallation: directory.table.installations.id(at: row)) == search.lastOutcome
        }
        let rows = try await directory.installationRows(stillAt: found).filter {
            $0.installation.isListed(under: tags, on: search.platform)
        }
        return InstallationSearchPage(
            installations: rows.map { ($0.dated, lastOutcome(ofInstallation: $0.installation.id)) },
            continuation: last.map { String($0) })
    }

    /// Searches standalone registrations, which belong to no installation. A user's registrations have the tag `username:…`, which the app
    /// backend sets, or `$UserId:{…}`.
    func registrations(_ search: DeviceSearch, page: Page) async throws(PushError) -> RegistrationSearchPage {
        directory.sweep()
        var terms = [search.tag].compactMap { $0 }.map { TagExpression.tag($0) }
        if let user = search.user {
            let tags = [try Tag.addressing(user)] + [Tag(validating: "username:\(user)")].compactMap { $0 }
            terms.append(.or(tags.map { .tag($0) }))
        }
        let expression = terms.isEmpty ? nil : TagExpression.and(terms)
        let (found, last) = RowPager(table: directory.table).page(expression, behind: try page.row, top: page.size) { row in
            let traits = directory.table.columns.traits[row]
            return !traits.isInstalled && (search.platform.map { $0 == traits.platform } ?? true)
                && (search.lastOutcome.map { $0 == traits.outcome } ?? true)
        }
        let rows = try await directory.rows(stillAt: found).map(\.registration).filter { registration in
            (expression?.matches(Set(registration.tags)) ?? true) && (search.platform.map { $0 == registration.platform } ?? true)
        }
        return RegistrationSearchPage(
            registrations: rows.map { ($0, directory.table.lastOutcome(of: $0.id)) }, continuation: last.map { String($0) })
    }

    /// The last result of an installation: a failed one if any of its registrations failed. If its channel is invalid, the failed
    /// registration has been removed, and the result is `expiredChannel`.
    func lastOutcome(ofInstallation id: String) -> OutcomeName? {
        let outcomes = directory.table.rows(ofInstallation: id).compactMap { directory.table.columns.traits[$0].outcome }
        if let failed = outcomes.first(where: { $0 != .success }) { return failed }
        return directory.table.installations.row(of: id).map { directory.table.installations.isExpired($0) } == true
            ? .expiredChannel : outcomes.first
    }
}

/// Search criteria for devices. All of them must match.
package struct DeviceSearch: Sendable, Equatable {
    package var user: String?
    /// For installations, as in `InstallationFilter.tag`.
    package var tag: Tag?
    package var platform: Platform?
    package var lastOutcome: OutcomeName?

    package init(user: String? = nil, tag: Tag? = nil, platform: Platform? = nil, lastOutcome: OutcomeName? = nil) {
        self.user = user
        self.tag = tag
        self.platform = platform
        self.lastOutcome = lastOutcome
    }
}

package struct InstallationSearchPage: Sendable {
    /// Each with the result of its last push: a failed one if any of its registrations failed; nil before the first push.
    package var installations: [(installation: Installation, lastOutcome: OutcomeName?)]
    /// Present if there are more.
    package var continuation: String?
}

package struct RegistrationSearchPage: Sendable {
    /// Each with the result of its last push; nil before the first push.
    package var registrations: [(registration: Registration, lastOutcome: OutcomeName?)]
    /// Present if there are more.
    package var continuation: String?
}
