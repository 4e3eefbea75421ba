extension TagExpression {
    /// One line of an explanation: a subexpression and whether it is true.
    package struct Finding: Sendable, Equatable {
        /// 0 for the whole expression, 1 for its terms, and so on.
        package let depth: Int
        package let text: String
        package let holds: Bool

        package init(depth: Int, text: String, holds: Bool) {
            self.depth = depth
            self.text = text
            self.holds = holds
        }
    }

    /// Explains why a device with these tags matches or does not: every subexpression, each followed by its own.
    package func explain(_ tags: Set<Tag>) -> [Finding] {
        var findings: [Finding] = []
        normalized.explain(tags, depth: 0, into: &findings)
        return findings
    }

    @discardableResult
    private func explain(_ tags: Set<Tag>, depth: Int, into findings: inout [Finding]) -> Bool {
        let index = findings.count
        findings.append(Finding(depth: depth, text: description, holds: false))
        var holds: Bool
        switch self {
        case .tag(let tag): holds = tags.contains(tag)
        case .not(let term): holds = !term.explain(tags, depth: depth + 1, into: &findings)
        case .and(let terms):
            holds = true
            for term in terms where !term.explain(tags, depth: depth + 1, into: &findings) { holds = false }
        case .or(let terms):
            holds = false
            for term in terms where term.explain(tags, depth: depth + 1, into: &findings) { holds = true }
        }
        findings[index] = Finding(depth: depth, text: findings[index].text, holds: holds)
        return holds
    }

    /// Warnings about what Azure Notification Hubs would reject in this expression: more than 20 tags with only `||`, or more than 6
    /// otherwise (Azure's documentation, "Routing and tag expressions"). Every occurrence counts.
    package func azureFindings() -> [String] {
        let count = operands.count
        let limit = hasOnlyOr ? 20 : 6
        guard count > limit else { return [] }
        let reason = hasOnlyOr ? "with || only" : "with && or !"
        return ["The expression has \(count) tags; Azure Notification Hubs allows \(limit) \(reason)."]
    }

    private var hasOnlyOr: Bool {
        switch self {
        case .tag: true
        case .not: false
        case .and(let terms): terms.count == 1 && terms[0].hasOnlyOr
        case .or(let terms): terms.allSatisfy(\.hasOnlyOr)
        }
    }
}
