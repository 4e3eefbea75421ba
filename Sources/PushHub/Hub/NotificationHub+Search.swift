import PushModel

// Search for operators: devices by their properties, and tags.
extension NotificationHub {
    /// A page of the installations that match all criteria, each with the result of its last push.
    package func search(_ search: DeviceSearch, page: Page) async throws(PushError) -> InstallationSearchPage {
        sweep()
        let userTag = try search.user.map { user throws(PushError) in try Tag.addressing(user) }
        let tags = [userTag, search.tag].compactMap { $0 }
        let (found, last) = table.installations.page(
            tagged: tags, on: search.platform, behind: try place(page), top: Self.top(page)
        ) { place in
            search.lastOutcome == nil || lastOutcome(ofInstallation: table.installations.id(at: place)) == search.lastOutcome
        }
        let rows = try await installationRows(stillAt: found).filter { $0.installation.isListed(under: tags, on: search.platform) }
        return InstallationSearchPage(
            installations: rows.map { ($0.dated, lastOutcome(ofInstallation: $0.installation.id)) },
            continuation: last.map { String($0) })
    }

    /// Searches standalone registrations, which belong to no installation. A user's registrations have the tag `username:…`, which the app
    /// backend sets, or `$UserId:{…}`.
    package func searchRegistrations(_ search: DeviceSearch, page: Page) async throws(PushError) -> RegistrationSearchPage {
        sweep()
        var terms = [search.tag].compactMap { $0 }.map { TagExpression.tag($0) }
        if let user = search.user {
            let tags = [try Tag.addressing(user)] + [Tag(validating: "username:\(user)")].compactMap { $0 }
            terms.append(.or(tags.map { .tag($0) }))
        }
        let expression = terms.isEmpty ? nil : TagExpression.and(terms)
        let (found, last) = table.page(expression, behind: try place(page), top: Self.top(page)) { place in
            let traits = table.columns.traits[place]
            return !traits.isInstalled && (search.platform.map { $0 == traits.platform } ?? true)
                && (search.lastOutcome.map { $0 == traits.outcome } ?? true)
        }
        let rows = try await rows(stillAt: found).map(\.registration).filter { registration in
            (expression?.matches(Set(registration.tags)) ?? true) && (search.platform.map { $0 == registration.platform } ?? true)
        }
        return RegistrationSearchPage(
            registrations: rows.map { ($0, table.lastOutcome(of: $0.id)) }, continuation: last.map { String($0) })
    }

    /// The last result of an installation: a failed one if any of its registrations failed. If its channel is invalid, the failed
    /// registration has been removed, and the result is `expiredChannel`.
    package func lastOutcome(ofInstallation id: String) -> OutcomeName? {
        let outcomes = table.places(ofInstallation: id).compactMap { table.columns.traits[$0].outcome }
        if let failed = outcomes.first(where: { $0 != .success }) { return failed }
        return table.installations.place(of: id).map { table.installations.isExpired($0) } == true ? .expiredChannel : outcomes.first
    }

    /// Lists tags with a prefix, ignoring case, and the number of their registrations: most registrations first, then by name. Tags that
    /// the hub sets are left out. If counts change while paging, a tag may be missed.
    package func tags(prefix: String, page: Page) async throws(PushError) -> TagPage {
        sweep()
        await unindexExpired()
        let prefix = prefix.lowercased()
        let first = try page.continuation.map { token throws(PushError) in try TagCount(continuation: token) }
        let top = Self.top(page)
        // Keeps only one page and one more, not the whole list.
        var best: [TagCount] = []
        try await forEachTag { tag in
            guard tag.reservedForm == nil else { return true }
            let count = TagCount(tag: tag, registrations: table.index.count(of: tag))
            guard prefix.isEmpty || tag.text.lowercased().hasPrefix(prefix), first.map({ $0 < count }) ?? true else { return true }
            if best.count > top, let last = best.last {
                guard count < last else { return true }
                best.removeLast()
            }
            best.insert(count, at: best.firstIndex { count < $0 } ?? best.count)
            return true
        }
        let shown = best.prefix(top)
        return TagPage(tags: Array(shown), continuation: best.count > top ? shown.last?.continuation : nil)
    }
}

extension NotificationHub {
    /// Number of registrations whose tags are read at a time.
    private static let tagStep = 5_000
    /// Maximum number of registrations that are searched for similar tags.
    private static let maximumComparedTags = 10_000

    /// Calls `body` once for each tag in use, until it returns false. The index does not store most tag names, only the first row of each,
    /// so names are read from the store.
    private func forEachTag(_ body: (Tag) -> Bool) async throws(PushError) {
        var last: UInt32?
        while true {
            let rows = try await store.tags(behind: last, limit: Self.tagStep)
            for row in rows {
                for tag in row.tags where table.index.firstPlace(of: tag) == row.place {
                    guard body(tag) else { return }
                }
            }
            guard rows.count == Self.tagStep, let place = rows.last?.place else { return }
            last = place
        }
    }

    /// Tags in use that a misspelt tag can be compared with; empty if there are too many.
    func comparableNames() async -> [Tag] {
        guard table.index.tagCount <= settings.comparableTags else { return [] }
        do throws(PushError) {
            let rows = try await store.tags(behind: nil, limit: Self.maximumComparedTags)
            return rows.flatMap { row in row.tags.filter { table.index.firstPlace(of: $0) == row.place } }
        } catch {
            environment.note(.audience, "no tags to compare with: \(error.message)")
            return []
        }
    }

    /// Explains, as text, why a send found no device.
    func nearMisses(_ request: NotificationRequest) async -> [String] {
        if let plan = request.plan {
            let kept = try? await store.plan(PlanID.number(of: plan.id) ?? 0)
            if let kept, kept.members == 0 { return ["the plan \(plan.id) has no devices"] + kept.report.nearMisses }
            return ["no device of plan \(plan.id) is still registered"]
        }
        await unindexExpired()
        let isMissing = (request.audience.expression?.tags ?? []).contains { table.index.count(of: $0) == 0 }
        let names = isMissing ? await comparableNames() : []
        return NearMisses(table: table, request: request, names: names).sentences
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

package struct TagPage: Sendable {
    package var tags: [TagCount]
    /// Present if there are more.
    package var continuation: String?
}

/// A tag and the number of registrations that have it. Ordered as in lists: smaller comes first.
package struct TagCount: Sendable, Equatable, Comparable {
    package var tag: Tag
    package var registrations: Int

    package static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.registrations == rhs.registrations
            ? lhs.tag.text.lowercased() < rhs.tag.text.lowercased() : lhs.registrations > rhs.registrations
    }

    fileprivate var continuation: String { "\(registrations).\(tag.text)" }
}

extension TagCount {
    fileprivate init(continuation token: String) throws(PushError) {
        // Searched by bytes: a tag may start with a combining mark, which would merge with the dot before it into one character.
        guard let point = token.utf8.firstIndex(of: UInt8(ascii: ".")), let count = Int(token[..<point]),
            let tag = Tag(validating: String(token.utf8[token.utf8.index(after: point)...]) ?? "")
        else {
            throw NotificationHub.badContinuation(token)
        }
        self.init(tag: tag, registrations: count)
    }
}
