// How many registrations each part of a tag expression names.
extension NotificationHub {
    /// The parts of an expression as a tree, each with how many registrations satisfy it, all counted at one moment. For a tag that
    /// nobody has, the tag in use that comes nearest. Those that have expired are not counted.
    package nonisolated func count(_ expression: TagExpression) async -> TagCounts {
        let (counting, names) = await counting(expression)
        // Beside the actor: of a long expression over many registrations there is much to put together.
        return counting.counts(of: expression, names)
    }

    private func counting(_ expression: TagExpression) async -> (PartCounting, [Tag]) {
        await unindexExpired()
        sweep()
        let counting = PartCounting(index: table.index, gone: PlaceSet(table.indexed.sorted()))
        guard expression.tags.contains(where: { counting.places(of: $0).isEmpty }) else { return (counting, []) }
        return (counting, await comparableNames())
    }
}

/// How many registrations a tag expression and its parts name.
package struct TagCounts: Sendable, Equatable {
    package struct Part: Sendable, Equatable {
        /// 0 for the whole expression, 1 for its terms, and so on.
        package var depth: Int
        package var text: String
        package var registrations: Int
        /// For a tag that nobody has, the one in use that it was likely meant to be.
        package var nearest: TagCount?

        package init(depth: Int, text: String, registrations: Int, nearest: TagCount? = nil) {
            (self.depth, self.text, self.registrations, self.nearest) = (depth, text, registrations, nearest)
        }
    }

    /// All there are in the hub.
    package var registrations: Int
    /// Each before its own parts; the first is the whole expression.
    package var parts: [Part]

    package init(registrations: Int, parts: [Part]) {
        (self.registrations, self.parts) = (registrations, parts)
    }
}

/// The index at one moment.
private struct PartCounting: Sendable {
    /// Most tags for which the nearest one is looked for: each is compared with all tags of the hub.
    private static let mostNearest = 8

    private let index: AudienceIndex
    /// In the index still, and expired.
    private let gone: PlaceSet
    private let live: PlaceSet

    init(index: AudienceIndex, gone: PlaceSet) {
        (self.index, self.gone) = (index, gone)
        live = Self.without(gone, index.live)
    }

    func places(of tag: Tag) -> PlaceSet { Self.without(gone, index.places(of: tag)) }

    func counts(of expression: TagExpression, _ names: [Tag]) -> TagCounts {
        var counts = TagCounts(registrations: live.count, parts: [])
        _ = add(expression.normalized, depth: 0, to: &counts)
        var (asked, found): (Int, [String: TagCount]) = (0, [:])
        for place in counts.parts.indices where counts.parts[place].registrations == 0 {
            let text = counts.parts[place].text
            guard Tag(validating: text) != nil else { continue }
            if found[text] == nil, asked < Self.mostNearest {
                asked += 1
                found[text] = nearestTag(text, names)
            }
            counts.parts[place].nearest = found[text]
        }
        return counts
    }

    private func nearestTag(_ text: String, _ names: [Tag]) -> TagCount? {
        guard let near = nearest(text, in: names.lazy.map(\.text)), let tag = Tag(validating: near) else { return nil }
        let count = places(of: tag).count
        return count > 0 ? TagCount(tag: tag, registrations: count) : nil
    }

    /// Adds a part and its own; each set is made of those below it.
    private func add(_ expression: TagExpression, depth: Int, to counts: inout TagCounts) -> PlaceSet {
        let place = counts.parts.count
        counts.parts.append(TagCounts.Part(depth: depth, text: expression.description, registrations: 0))
        var set: PlaceSet
        switch expression {
        case .tag(let tag): set = places(of: tag)
        case .not(let term): set = Self.without(add(term, depth: depth + 1, to: &counts), live)
        case .and(let terms):
            set = live
            for term in terms { set.formIntersection(add(term, depth: depth + 1, to: &counts)) }
        case .or(let terms): set = PlaceSet.union(terms.map { add($0, depth: depth + 1, to: &counts) })
        }
        counts.parts[place].registrations = set.count
        return set
    }

    private static func without(_ other: PlaceSet, _ set: PlaceSet) -> PlaceSet {
        guard !other.isEmpty else { return set }
        var rest = set
        rest.subtract(other)
        return rest
    }
}
