// What operators look for: devices by what is known of them, and tags.
extension NotificationHub {
    /// A page of the installations that satisfy all of a search, each with how its last push ended.
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

    /// The same of registrations that stand for themselves, not for an installation. A user's are those with the tag
    /// `username:…`, which the app backend gives out, or `$UserId:{…}`.
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

    /// Of its registrations, the one whose push did not succeed, if there is one. Where the channel is dead, the registration that
    /// found it out has left.
    package func lastOutcome(ofInstallation id: String) -> OutcomeName? {
        let outcomes = table.places(ofInstallation: id).compactMap { table.columns.traits[$0].outcome }
        if let failed = outcomes.first(where: { $0 != .success }) { return failed }
        return table.installations.place(of: id).map { table.installations.isExpired($0) } == true ? .expiredChannel : outcomes.first
    }

    /// The tags that begin with a text, in any case, with how many registrations have each: those of most registrations first,
    /// and of as many by name. Tags that the hub gives out are left out. Whoever pages through while registrations come and go
    /// may miss a tag whose number changes.
    package func tags(prefix: String, page: Page) async throws(PushError) -> TagPage {
        sweep()
        await unindexExpired()
        let prefix = prefix.lowercased()
        let first = try page.continuation.map { token throws(PushError) in try TagCount(continuation: token) }
        let top = Self.top(page)
        // Of many tags few are asked for: what is kept is as long as the page and one more, and never the whole list.
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
    /// Registrations whose tags are read at a time.
    private static let tagStep = 5_000
    /// Most registrations that are looked through for the name of a tag that comes close.
    private static let tagsCompared = 10_000

    /// Every tag in use, each once, until `body` answers false: of most tags the index has no names, only where each is first.
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

    /// Tags in use, among which the nearest one is looked for; none where there are too many to compare with.
    func comparableNames() async -> [Tag] {
        guard table.index.tagCount <= settings.comparableTags else { return [] }
        do throws(PushError) {
            let rows = try await store.tags(behind: nil, limit: Self.tagsCompared)
            return rows.flatMap { row in row.tags.filter { table.index.firstPlace(of: $0) == row.place } }
        } catch {
            environment.note(.audience, "no tags to compare with: \(error.message)")
            return []
        }
    }

    /// Why a send found nobody, in words.
    func nearMisses(_ request: NotificationRequest) async -> [String] {
        if let plan = request.plan {
            let kept = try? await store.plan(PlanID.number(of: plan.id) ?? 0)
            if let kept, kept.members == 0 { return ["the plan \(plan.id) was for nobody"] + kept.report.nearMisses }
            return ["none of the devices of plan \(plan.id) is there any more"]
        }
        await unindexExpired()
        let isMissing = (request.audience.expression?.tags ?? []).contains { table.index.count(of: $0) == 0 }
        let names = isMissing ? await comparableNames() : []
        return NearMisses(table: table, request: request, names: names).sentences
    }
}

/// What devices are looked for by; all that is given must hold.
package struct DeviceSearch: Sendable, Equatable {
    package var user: String?
    /// Of installations as in `InstallationFilter.tag`.
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
    /// Each with how its last push ended: of several registrations, one that failed; nil before the first push.
    package var installations: [(installation: Installation, lastOutcome: OutcomeName?)]
    /// Present when there is more.
    package var continuation: String?
}

package struct RegistrationSearchPage: Sendable {
    /// Each with how its last push ended; nil before the first push.
    package var registrations: [(registration: Registration, lastOutcome: OutcomeName?)]
    /// Present when there is more.
    package var continuation: String?
}

package struct TagPage: Sendable {
    package var tags: [TagCount]
    /// Present when there is more.
    package var continuation: String?
}

/// A tag with how many registrations have it. Smaller is what is listed first.
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
        // By bytes: a tag may begin with a mark, which joins the point before it to one character.
        guard let point = token.utf8.firstIndex(of: UInt8(ascii: ".")), let count = Int(token[..<point]),
            let tag = Tag(validating: String(token.utf8[token.utf8.index(after: point)...]) ?? "")
        else {
            throw NotificationHub.badContinuation(token)
        }
        self.init(tag: tag, registrations: count)
    }
}
