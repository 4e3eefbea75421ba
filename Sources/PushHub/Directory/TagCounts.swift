import PushModel

/// Registration counts for a tag expression and its parts.
package struct TagCounts: Sendable, Equatable {
    package struct Part: Sendable, Equatable {
        /// 0 for the whole expression, 1 for its terms, and so on.
        package var depth: Int
        package var text: String
        package var registrations: Int
        /// For a tag without registrations: the tag in use that was probably meant.
        package var nearest: TagCount?

        package init(depth: Int, text: String, registrations: Int, nearest: TagCount? = nil) {
            (self.depth, self.text, self.registrations, self.nearest) = (depth, text, registrations, nearest)
        }
    }

    /// All registrations of the hub.
    package var registrations: Int
    /// Each part before its own parts; the first is the whole expression.
    package var parts: [Part]

    package init(registrations: Int, parts: [Part]) {
        (self.registrations, self.parts) = (registrations, parts)
    }
}

/// A snapshot of the index.
struct TagCountSnapshot: Sendable {
    /// Maximum number of tags for which a similar one is searched: each is compared with all tags of the hub.
    private static let maximumNearest = 8

    private let index: AudienceIndex
    /// Expired rows that are still in the index.
    private let expired: RowSet
    private let live: RowSet

    init(index: AudienceIndex, expired: RowSet) {
        (self.index, self.expired) = (index, expired)
        live = Self.without(expired, index.live)
    }

    func rows(of tag: Tag) -> RowSet { Self.without(expired, index.rows(of: tag)) }

    func counts(of expression: TagExpression, _ names: [Tag]) -> TagCounts {
        var counts = TagCounts(registrations: live.count, parts: [])
        _ = add(expression.normalized, depth: 0, to: &counts)
        var (asked, found): (Int, [String: TagCount]) = (0, [:])
        for index in counts.parts.indices where counts.parts[index].registrations == 0 {
            let text = counts.parts[index].text
            guard Tag(validating: text) != nil else { continue }
            if found[text] == nil, asked < Self.maximumNearest {
                asked += 1
                found[text] = nearestTag(text, names)
            }
            counts.parts[index].nearest = found[text]
        }
        return counts
    }

    private func nearestTag(_ text: String, _ names: [Tag]) -> TagCount? {
        guard let near = nearest(text, in: names.lazy.map(\.text)), let tag = Tag(validating: near) else { return nil }
        let count = rows(of: tag).count
        return count > 0 ? TagCount(tag: tag, registrations: count) : nil
    }

    /// Adds an expression and its parts, and returns the rows that match.
    private func add(_ expression: TagExpression, depth: Int, to counts: inout TagCounts) -> RowSet {
        let index = counts.parts.count
        counts.parts.append(TagCounts.Part(depth: depth, text: expression.description, registrations: 0))
        var set: RowSet
        switch expression {
        case .tag(let tag): set = rows(of: tag)
        case .not(let term): set = Self.without(add(term, depth: depth + 1, to: &counts), live)
        case .and(let terms):
            set = live
            for term in terms { set.formIntersection(add(term, depth: depth + 1, to: &counts)) }
        case .or(let terms): set = RowSet.union(terms.map { add($0, depth: depth + 1, to: &counts) })
        }
        counts.parts[index].registrations = set.count
        return set
    }

    private static func without(_ other: RowSet, _ set: RowSet) -> RowSet {
        guard !other.isEmpty else { return set }
        var rest = set
        rest.subtract(other)
        return rest
    }
}
