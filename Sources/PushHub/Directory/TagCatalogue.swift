package import PushModel

/// Lists and counts the tags in use.
///
/// Not thread-safe: it is part of the actor that owns the directory.
struct TagCatalogue {
    let directory: RegistrationDirectory

    private var context: HubContext { directory.context }

    /// Lists tags with a prefix, ignoring case, and the number of their registrations: most registrations first, then by name. Tags that
    /// the hub sets are left out. If counts change while paging, a tag may be missed.
    func list(prefix: String, page: Page) async throws(PushError) -> TagPage {
        directory.sweep()
        await directory.unindexExpired()
        let prefix = prefix.lowercased()
        let first = try page.continuation.map { token throws(PushError) in try TagCount(continuation: token) }
        let top = page.size
        // Keeps only one page and one more, not the whole list.
        var best: [TagCount] = []
        try await forEachTag { tag in
            guard tag.reservedForm == nil else { return true }
            let count = TagCount(tag: tag, registrations: directory.table.index.count(of: tag))
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

    /// Number of registrations whose tags are read at a time.
    private static let tagStep = 5_000
    /// Maximum number of registrations that are searched for similar tags.
    private static let maximumComparedTags = 10_000

    /// Calls `body` once for each tag in use, until it returns false. The index does not store most tag names, only the first row of each,
    /// so names are read from the store.
    private func forEachTag(_ body: (Tag) -> Bool) async throws(PushError) {
        var last: UInt32?
        while true {
            let rows = try await context.store.tags(behind: last, limit: Self.tagStep)
            for row in rows {
                for tag in row.tags where directory.table.index.firstRow(of: tag) == row.row {
                    guard body(tag) else { return }
                }
            }
            guard rows.count == Self.tagStep, let rowNumber = rows.last?.row else { return }
            last = rowNumber
        }
    }

    /// Tags in use that a misspelt tag can be compared with; empty if there are too many.
    func comparableNames() async -> [Tag] {
        guard directory.table.index.tagCount <= context.settings.limits.comparableTags else { return [] }
        do throws(PushError) {
            let rows = try await context.store.tags(behind: nil, limit: Self.maximumComparedTags)
            return rows.flatMap { row in row.tags.filter { directory.table.index.firstRow(of: $0) == row.row } }
        } catch {
            context.environment.note(.audience, "no tags to compare with: \(error.message)")
            return []
        }
    }

    /// A snapshot of the index, and the tags to compare those with that have no registration.
    func snapshot(for expression: TagExpression) async -> (TagCountSnapshot, [Tag]) {
        await directory.unindexExpired()
        directory.sweep()
        let snapshot = TagCountSnapshot(index: directory.table.index, expired: RowSet(directory.table.indexed.sorted()))
        guard expression.tags.contains(where: { snapshot.rows(of: $0).isEmpty }) else { return (snapshot, []) }
        return (snapshot, await comparableNames())
    }
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
            throw PushError.invalidContinuation(token)
        }
        self.init(tag: tag, registrations: count)
    }
}
