/// Which registrations a tag expression names.
///
/// Registrations are dense 32-bit ids; a tag is the set of its ids. A conjunction starts from its smallest member and
/// tests the others per candidate, so that cost follows the candidates and not the registrations.
package struct AudienceIndex: Sendable {
    private var postings: [Tag: Set<UInt32>] = [:]
    /// The universe for a negation.
    private var live: Set<UInt32> = []

    package init() {}

    package var count: Int { live.count }

    package mutating func insert(_ id: UInt32, tags: [Tag]) {
        live.insert(id)
        for tag in tags { postings[tag, default: []].insert(id) }
    }

    package mutating func remove(_ id: UInt32, tags: [Tag]) {
        live.remove(id)
        for tag in tags {
            postings[tag]?.remove(id)
            if postings[tag]?.isEmpty == true { postings[tag] = nil }
        }
    }

    /// The ids that the expression names, ascending; everybody for nil.
    package func select(_ expression: TagExpression?) -> [UInt32] {
        (expression.map(matches) ?? live).sorted()
    }

    /// The first `count` ids with a tag from `first` on, ascending; the others are looked at and not put in order.
    package func ids(of tag: Tag, from first: UInt32, count: Int) -> [UInt32] {
        var least: [UInt32] = []
        for id in postings[tag] ?? [] where id >= first {
            if least.count == count {
                guard let last = least.last, id < last else { continue }
                least.removeLast()
            }
            let place = least.firstIndex { $0 > id } ?? least.endIndex
            least.insert(id, at: place)
        }
        return least
    }

    package func count(of tag: Tag) -> Int { postings[tag]?.count ?? 0 }

    package var tagCount: Int { postings.count }

    /// Every tag in use.
    package var tags: some Sequence<Tag> { postings.keys }

    private func matches(_ expression: TagExpression) -> Set<UInt32> {
        switch expression {
        case .tag(let tag): postings[tag] ?? []
        case .not(let inner): live.subtracting(matches(inner))
        case .or(let terms): terms.reduce(into: []) { $0.formUnion(matches($1)) }
        case .and(let terms): conjunction(terms)
        }
    }

    private func conjunction(_ terms: [TagExpression]) -> Set<UInt32> {
        let bounds = terms.map { (term: $0, bound: upperBound($0)) }
        guard let driver = bounds.indices.min(by: { bounds[$0].bound < bounds[$1].bound }) else { return live }
        var candidates = matches(bounds[driver].term)
        for (index, term) in terms.enumerated() where index != driver {
            candidates = candidates.filter { contains($0, term) }
        }
        return candidates
    }

    private func contains(_ id: UInt32, _ expression: TagExpression) -> Bool {
        switch expression {
        case .tag(let tag): postings[tag]?.contains(id) == true
        case .not(let inner): !contains(id, inner)
        case .or(let terms): terms.contains { contains(id, $0) }
        case .and(let terms): terms.allSatisfy { contains(id, $0) }
        }
    }

    /// No fewer than the expression names; found in the time that its length takes.
    package func upperBound(_ expression: TagExpression) -> Int {
        switch expression {
        case .tag(let tag): count(of: tag)
        case .not: live.count
        case .or(let terms): min(live.count, terms.reduce(0) { $0 + upperBound($1) })
        case .and(let terms): terms.map(upperBound).min() ?? live.count
        }
    }
}
