/// Selects the devices for a notification: tags combined with `!`, `&&` and `||`, in this order of precedence.
///
/// `(follows_RedSox || follows_Cardinals) && location_Boston && !muted`
///
/// The parser limits the nesting depth. Code that builds expressions must keep to a similar depth, because all operations here are
/// recursive.
package indirect enum TagExpression: Sendable, Hashable {
    case tag(Tag)
    case not(TagExpression)
    /// True if all terms are; an empty list is always true and has no textual form.
    case and([TagExpression])
    /// True if any term is; an empty list is never true and has no textual form.
    case or([TagExpression])

    /// Maximum nesting of parentheses and `!`.
    package static let maximumDepth = 64

    /// Reads an expression. Nested conjunctions become one list, whatever their parentheses; likewise disjunctions.
    ///
    /// - Throws: `TagExpressionError` with the position and, if there is a likely one, the intended text.
    package init(parsing text: String) throws(TagExpressionError) {
        self = try TagExpressionParser.parse(text)
    }

    /// The expression without lists nested in lists of the same kind, and without lists of one term.
    package var normalized: TagExpression {
        switch self {
        case .tag: return self
        case .not(let term): return .not(term.normalized)
        case .and(let terms):
            let flat = terms.map(\.normalized).flatMap { term in
                if case .and(let inner) = term { inner } else { [term] }
            }
            return flat.count == 1 ? flat[0] : .and(flat)
        case .or(let terms):
            let flat = terms.map(\.normalized).flatMap { term in
                if case .or(let inner) = term { inner } else { [term] }
            }
            return flat.count == 1 ? flat[0] : .or(flat)
        }
    }

    /// The tags without duplicates, in the order of their first occurrence.
    package var tags: [Tag] {
        var seen: Set<Tag> = []
        return operands.filter { seen.insert($0).inserted }
    }

    /// Every occurrence of a tag, from left to right.
    var operands: [Tag] {
        var found: [Tag] = []
        collect(into: &found)
        return found
    }

    private func collect(into found: inout [Tag]) {
        switch self {
        case .tag(let tag): found.append(tag)
        case .not(let term): term.collect(into: &found)
        case .and(let terms), .or(let terms): for term in terms { term.collect(into: &found) }
        }
    }

    /// Number of operands: every occurrence of a tag.
    package var operandCount: Int {
        switch self {
        case .tag: 1
        case .not(let term): term.operandCount
        case .and(let terms), .or(let terms): terms.reduce(0) { $0 + $1.operandCount }
        }
    }

    /// Size of the expression as text in bytes, without spaces and parentheses.
    package var byteCount: Int {
        switch self {
        case .tag(let tag): tag.text.utf8.count
        case .not(let term): 1 + term.byteCount
        case .and(let terms), .or(let terms): terms.reduce(2 * max(terms.count - 1, 0)) { $0 + $1.byteCount }
        }
    }

    /// Whether a device with these tags matches.
    package func matches(_ tags: Set<Tag>) -> Bool {
        switch self {
        case .tag(let tag): tags.contains(tag)
        case .not(let term): !term.matches(tags)
        case .and(let terms): terms.allSatisfy { $0.matches(tags) }
        case .or(let terms): terms.contains { $0.matches(tags) }
        }
    }
}

extension TagExpression: CustomStringConvertible {
    /// The canonical text with as few parentheses as possible. Parsing it returns `normalized`.
    package var description: String {
        var text = ""
        normalized.write(into: &text)
        return text
    }

    private func write(into text: inout String) {
        switch self {
        case .tag(let tag): text += tag.text
        case .not(let term):
            text += "!"
            term.write(within: 3, into: &text)
        case .and(let terms): TagExpression.write(terms, joinedBy: " && ", within: 2, into: &text)
        case .or(let terms): TagExpression.write(terms, joinedBy: " || ", within: 1, into: &text)
        }
    }

    private static func write(
        _ terms: [TagExpression], joinedBy sign: String, within strength: Int, into text: inout String
    ) {
        if terms.isEmpty { text += "()" }
        for (index, term) in terms.enumerated() {
            if index > 0 { text += sign }
            term.write(within: strength, into: &text)
        }
    }

    private func write(within strength: Int, into text: inout String) {
        let own =
            switch self {
            case .tag, .not: 4
            case .and(let terms): terms.isEmpty ? 4 : 2
            case .or(let terms): terms.isEmpty ? 4 : 1
            }
        if own < strength { text += "(" }
        write(into: &text)
        if own < strength { text += ")" }
    }
}
