/// The smallest part of a tag expression because of which a device is not meant.
package struct TagFailure: Sendable, Equatable {
    package enum Kind: Sendable, Equatable { case missing, present }

    package var kind: Kind
    /// One, or those of which one would do.
    package var tags: [Tag]
    /// The part, as it is written.
    package var term: String

    /// `"Sports"`, `"Sports" or "Science"`; of many the first few.
    package var words: String {
        let shown = tags.prefix(5).map { "\"\($0.text)\"" }
        return shown.joined(separator: " or ") + (tags.count > shown.count ? " or one of \(tags.count - shown.count) others" : "")
    }
}

extension TagExpression {
    /// Why a device with these tags is not meant; nil where it is.
    package func failure(for tags: Set<Tag>) -> TagFailure? {
        let expression = normalized
        return expression.matches(tags) ? nil : expression.smallestFailure(tags)
    }

    /// - Precondition: It does not hold.
    private func smallestFailure(_ tags: Set<Tag>) -> TagFailure {
        switch self {
        case .tag(let tag): return TagFailure(kind: .missing, tags: [tag], term: description)
        case .not(let term):
            let present = term.holding(tags)
            // What holds for want of a tag is kept by one that is not there.
            return present.isEmpty
                ? TagFailure(kind: .missing, tags: term.tags, term: description)
                : TagFailure(kind: .present, tags: Array(present.prefix(1)), term: description)
        case .and(let terms):
            return terms.first { !$0.matches(tags) }.map { $0.smallestFailure(tags) }
                ?? TagFailure(kind: .missing, tags: self.tags, term: description)
        case .or(let terms):
            let failures = terms.map { $0.smallestFailure(tags) }
            // Any of them would do: what is missing is said of all, and what is in the way of the first alone.
            let missing = failures.filter { $0.kind == .missing }
            guard missing.isEmpty, let first = failures.first else {
                return TagFailure(kind: .missing, tags: missing.flatMap(\.tags).uniqued(), term: description)
            }
            return first
        }
    }

    /// The tags because of which it holds.
    private func holding(_ tags: Set<Tag>) -> [Tag] {
        switch self {
        case .tag(let tag): tags.contains(tag) ? [tag] : []
        case .not: []
        case .and(let terms): terms.flatMap { $0.holding(tags) }
        case .or(let terms): terms.filter { $0.matches(tags) }.flatMap { $0.holding(tags) }
        }
    }
}
