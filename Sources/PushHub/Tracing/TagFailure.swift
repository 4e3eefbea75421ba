package import PushModel

/// The smallest part of a tag expression that excludes a device.
package struct TagFailure: Sendable, Equatable {
    package enum Kind: Sendable, Equatable { case missing, present }

    package var kind: Kind
    /// The missing or excluding tag; several if any one of them would do.
    package var tags: [Tag]
    /// Text of the part.
    package var term: String

    /// `"Sports"` or `"Sports" or "Science"`; the first five if there are more.
    package var words: String {
        let shown = tags.prefix(5).map { "\"\($0.text)\"" }
        return shown.joined(separator: " or ") + (tags.count > shown.count ? " or one of \(tags.count - shown.count) others" : "")
    }
}

extension TagExpression {
    /// Why a device with these tags does not match; nil if it does.
    package func failure(for tags: Set<Tag>) -> TagFailure? {
        let expression = normalized
        return expression.matches(tags) ? nil : expression.smallestFailure(tags)
    }

    /// - Precondition: the expression does not match.
    private func smallestFailure(_ tags: Set<Tag>) -> TagFailure {
        switch self {
        case .tag(let tag): return TagFailure(kind: .missing, tags: [tag], term: description)
        case .not(let term):
            let present = term.holding(tags)
            // The negated term can match without any tag, for example `!a`. Then one of its tags is missing.
            return present.isEmpty
                ? TagFailure(kind: .missing, tags: term.tags, term: description)
                : TagFailure(kind: .present, tags: Array(present.prefix(1)), term: description)
        case .and(let terms):
            return terms.first { !$0.matches(tags) }.map { $0.smallestFailure(tags) }
                ?? TagFailure(kind: .missing, tags: self.tags, term: description)
        case .or(let terms):
            let failures = terms.map { $0.smallestFailure(tags) }
            // Any alternative would do: name the missing tags of all, otherwise the failure of the first.
            let missing = failures.filter { $0.kind == .missing }
            guard missing.isEmpty, let first = failures.first else {
                return TagFailure(kind: .missing, tags: missing.flatMap(\.tags).uniqued(), term: description)
            }
            return first
        }
    }

    /// The tags that make the expression match.
    private func holding(_ tags: Set<Tag>) -> [Tag] {
        switch self {
        case .tag(let tag): tags.contains(tag) ? [tag] : []
        case .not: []
        case .and(let terms): terms.flatMap { $0.holding(tags) }
        case .or(let terms): terms.filter { $0.matches(tags) }.flatMap { $0.holding(tags) }
        }
    }
}
