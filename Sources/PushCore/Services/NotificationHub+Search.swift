// What operators look for: devices by what is known of them, and tags.
extension NotificationHub {
    /// A page of the installations that satisfy all of a search, each with how its last push ended.
    package func search(_ search: DeviceSearch, page: Page) throws(PushError) -> InstallationSearchPage {
        sweep()
        // The shortest way in: a user has few devices, a tag fewer than a platform.
        let filter: InstallationFilter =
            search.user.map { .user($0) } ?? search.tag.map { .tag($0) } ?? search.platform.map { .platform($0) } ?? .all
        let userTag = try search.user.map { user throws(PushError) in try Tag.addressing(user) }
        let (found, last) = table.installations(
            in: try Self.list(filter), behind: try place(page), top: Self.top(page)
        ) { installation in
            (userTag == nil || installation.userID.flatMap { Tag(validating: "$UserId:{\($0)}") } == userTag)
                && (search.tag.map { installation.isListed(under: $0) } ?? true)
                && (search.platform.map { $0 == installation.handle.platform } ?? true)
                && (search.lastOutcome.map { $0 == lastOutcome(ofInstallation: installation.id) } ?? true)
        }
        return InstallationSearchPage(
            installations: found.map { ($0, lastOutcome(ofInstallation: $0.id)) }, continuation: last.map { String($0) })
    }

    /// The same of registrations that stand for themselves, not for an installation. A user's are those with the tag
    /// `username:…`, which the app backend gives out, or `$UserId:{…}`.
    package func searchRegistrations(_ search: DeviceSearch, page: Page) throws(PushError) -> RegistrationSearchPage {
        sweep()
        var userTags: [Tag] = []
        if let user = search.user { userTags = [try Tag.addressing(user)] + [Tag(validating: "username:\(user)")].compactMap { $0 } }
        let expression: TagExpression? = search.user != nil ? .or(userTags.map { .tag($0) }) : search.tag.map { .tag($0) }
        let (found, last) = table.page(expression, behind: try place(page), top: Self.top(page)) { registration in
            registration.installationID == nil
                && (search.tag.map { registration.tags.contains($0) } ?? true)
                && (search.platform.map { $0 == registration.platform } ?? true)
                && (search.lastOutcome.map { $0 == table.lastOutcome(of: registration.id) } ?? true)
        }
        return RegistrationSearchPage(
            registrations: found.map { ($0, table.lastOutcome(of: $0.id)) }, continuation: last.map { String($0) })
    }

    /// Of its registrations, the one whose push did not succeed, if there is one. Where the channel is dead, the registration that
    /// found it out has left.
    package func lastOutcome(ofInstallation id: String) -> OutcomeName? {
        let outcomes = table.registrations(ofInstallation: id).compactMap { table.lastOutcome(of: $0.id) }
        if let failed = outcomes.first(where: { $0 != .success }) { return failed }
        return table.installation(id)?.installation.isPushChannelExpired == true ? .expiredChannel : outcomes.first
    }

    /// The tags that begin with a text, in any case, with how many registrations have each: those of most registrations first,
    /// and of as many by name. Tags that the hub gives out are left out. Whoever pages through while registrations come and go
    /// may miss a tag whose number changes.
    package func tags(prefix: String, page: Page) throws(PushError) -> TagPage {
        sweep()
        let prefix = prefix.lowercased()
        let first = try page.continuation.map { token throws(PushError) in try TagCount(continuation: token) }
        let top = Self.top(page)
        // Of many tags few are asked for: what is kept is as long as the page and one more, and never the whole list.
        var best: [TagCount] = []
        for tag in table.tags where tag.reservedForm == nil {
            let count = TagCount(tag: tag, registrations: table.index.count(of: tag))
            guard prefix.isEmpty || tag.text.lowercased().hasPrefix(prefix), first.map({ $0 < count }) ?? true else { continue }
            if best.count > top, let last = best.last {
                guard count < last else { continue }
                best.removeLast()
            }
            best.insert(count, at: best.firstIndex { count < $0 } ?? best.count)
        }
        let shown = best.prefix(top)
        return TagPage(tags: Array(shown), continuation: best.count > top ? shown.last?.continuation : nil)
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
