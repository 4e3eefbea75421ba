import PushModel

/// The parts of a tag expression that exclude devices.
struct FailedTerms {
    private let table: RegistrationTable
    private var counts: [String: Int] = [:]
    private(set) var terms: [PlanReport.FailedTerm] = []

    /// Maximum number of terms examined per level, and reported in all. Each requires a selection of its own.
    private static let most = 8

    init(of expression: TagExpression, in table: RegistrationTable) {
        self.table = table
        explain(expression, total: count(expression))
    }

    private mutating func count(_ expression: TagExpression) -> Int {
        let words = expression.description
        if let known = counts[words] { return known }
        let count = table.select(expression).count
        counts[words] = count
        return count
    }

    /// - Parameter total: number of registrations that match the expression.
    private mutating func explain(_ expression: TagExpression, total: Int) {
        switch expression {
        case .and(let all) where all.count > 1:
            var found: [(term: TagExpression, entry: PlanReport.FailedTerm)] = []
            for (index, term) in all.prefix(Self.most).enumerated() {
                var others = all
                others.remove(at: index)
                let without = count(others.count == 1 ? others[0] : .and(others))
                guard without > total || count(term) == 0 else { continue }
                found.append((term, PlanReport.FailedTerm(term: term.description, matches: count(term), without: without)))
            }
            // The term that excludes most devices first.
            for (term, entry) in found.sorted(by: { ($0.entry.without ?? 0) > ($1.entry.without ?? 0) }) {
                add(entry)
                if entry.matches == 0, term.isCompound { explain(term, total: 0) }
            }
            // No single term excludes devices: list them all.
            if found.isEmpty {
                for term in all.prefix(Self.most) { add(PlanReport.FailedTerm(term: term.description, matches: count(term))) }
            }
        case .or(let all) where all.count > 1:
            for term in all.prefix(Self.most) {
                let matches = count(term)
                add(PlanReport.FailedTerm(term: term.description, matches: matches))
                if matches == 0, term.isCompound { explain(term, total: 0) }
            }
        case .and(let one), .or(let one): for term in one { explain(term, total: total) }
        case .tag, .not: if total == 0 { add(PlanReport.FailedTerm(term: expression.description, matches: 0)) }
        }
    }

    private mutating func add(_ term: PlanReport.FailedTerm) {
        guard terms.count < Self.most, !terms.contains(where: { $0.term == term.term }) else { return }
        terms.append(term)
    }
}

extension TagExpression {
    fileprivate var isCompound: Bool {
        switch self {
        case .and, .or: true
        case .not(let inner): inner.isCompound
        case .tag: false
        }
    }
}
