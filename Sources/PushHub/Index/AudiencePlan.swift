import PushModel

/// Evaluates a tag expression over the sets of its tags.
///
/// A conjunction starts from its smallest term, the driver, and intersects it with the others in order of cost per dropped row.
/// A union below it is intersected term by term if the driver is small compared to its terms; otherwise it is computed first. For a
/// union at the top, each conjunction has its own driver. Complements are formed only of the final result; within an expression,
/// negated terms are subtracted.
struct AudiencePlan {
    private let term: AudienceTerm
    private let live: RowSet
    private let work: SetWork

    init(_ expression: TagExpression, of index: AudienceIndex) {
        live = index.live
        work = SetWork(blocks: index.live.blockCount)
        term = AudienceTerm(expression, isNegated: false, in: index)
    }

    var selection: RowSet {
        let reach = reach(of: term)
        return reach.isOutside ? live.subtracting(reach.set) : reach.set
    }

    // MARK: - Evaluating terms

    /// A set, or all registrations outside it.
    private struct Reach {
        var set: RowSet
        var isOutside: Bool
    }

    private func reach(of term: AudienceTerm) -> Reach {
        switch term.kind {
        case .within(let set): Reach(set: set, isOutside: false)
        case .outside(let set): Reach(set: set, isOutside: true)
        case .all(let terms): conjunction(terms)
        case .any(let terms): union(terms)
        }
    }

    private func conjunction(_ terms: [AudienceTerm]) -> Reach {
        // Complements cannot be enumerated cheaply, so the driver is a term without negation if there is one.
        let inner = terms.indices.filter { !terms[$0].isOutside }
        guard let driver = inner.min(by: { terms[$0].bound < terms[$1].bound }) else {
            return Reach(set: RowSet.union(terms.compactMap(\.outside)), isOutside: true)
        }
        var others = terms
        others.remove(at: driver)
        let start = reach(of: terms[driver])
        if !start.isOutside { return Reach(set: narrowed(start.set, by: others), isOutside: false) }
        // ¬a ∧ b = b ∖ a, where b is first narrowed by the other terms.
        let rest = conjunction(others)
        guard rest.isOutside else { return Reach(set: rest.set.subtracting(start.set), isOutside: false) }
        return Reach(set: start.set.union(rest.set), isOutside: true)
    }

    private func union(_ terms: [AudienceTerm]) -> Reach {
        let reaches = terms.map(reach)
        let inside = RowSet.union(reaches.filter { !$0.isOutside }.map(\.set))
        let outsides = reaches.filter(\.isOutside).map(\.set).sorted { $0.count < $1.count }
        guard var outside = outsides.first else { return Reach(set: inside, isOutside: false) }
        // ¬a ∨ ¬b ∨ c = ¬(a ∧ b ∖ c).
        for set in outsides.dropFirst() { outside.formIntersection(set) }
        outside.subtract(inside)
        return Reach(set: outside, isOutside: true)
    }

    // MARK: - Narrowing a driver

    private func narrowed(_ set: RowSet, by terms: [AudienceTerm]) -> RowSet {
        let (before, everybody) = (set.count, live.count)
        func price(_ term: AudienceTerm) -> Double {
            let stored = min(1, Double(term.bound) / Double(max(1, everybody)))
            return work.narrowing(before, by: term) / max(0.001, 1 - stored)
        }
        var set = set
        for (term, _) in terms.map({ ($0, price($0)) }).sorted(by: { $0.1 < $1.1 }) {
            if set.isEmpty { return set }
            narrow(&set, by: term)
        }
        return set
    }

    private func narrow(_ set: inout RowSet, by term: AudienceTerm) {
        switch term.kind {
        case .within(let other): set.formIntersection(other)
        case .outside(let other): set.subtract(other)
        case .all(let terms): set = narrowed(set, by: terms)
        case .any(let terms):
            guard work.isDriven(set.count, by: terms) else {
                let reach = union(terms)
                if reach.isOutside { set.subtract(reach.set) } else { set.formIntersection(reach.set) }
                return
            }
            set = RowSet.union(
                terms.map { term in
                    var part = set
                    narrow(&part, by: term)
                    return part
                })
        }
    }
}

/// A tag expression with the sets of its tags. Negations apply to tags only, and nested lists of the same kind are merged.
private struct AudienceTerm {
    enum Kind {
        case within(RowSet)
        case outside(RowSet)
        /// Conjunction; all registrations if empty.
        case all([AudienceTerm])
        /// Union; no registrations if empty.
        case any([AudienceTerm])
    }

    let kind: Kind
    /// Upper bound for the number of matches.
    let bound: Int

    init(_ expression: TagExpression, isNegated: Bool, in index: AudienceIndex) {
        switch expression {
        case .tag(let tag):
            let set = index.rows(of: tag)
            self.init(kind: isNegated ? .outside(set) : .within(set), bound: isNegated ? index.count - set.count : set.count)
        case .not(let inner): self.init(inner, isNegated: !isNegated, in: index)
        case .and(let terms):
            self.init(terms.map { AudienceTerm($0, isNegated: isNegated, in: index) }, isUnion: isNegated, count: index.count)
        case .or(let terms):
            self.init(terms.map { AudienceTerm($0, isNegated: isNegated, in: index) }, isUnion: !isNegated, count: index.count)
        }
    }

    private init(_ terms: [AudienceTerm], isUnion: Bool, count: Int) {
        let flat = terms.flatMap { term in
            switch term.kind {
            case .all(let inner) where !isUnion: inner
            case .any(let inner) where isUnion: inner
            default: [term]
            }
        }
        self.init(
            kind: isUnion ? .any(flat) : .all(flat),
            bound: isUnion ? min(count, flat.reduce(0) { $0 + $1.bound }) : flat.reduce(count) { min($0, $1.bound) })
    }

    private init(kind: Kind, bound: Int) {
        self.kind = kind
        self.bound = bound
    }

    var outside: RowSet? { if case .outside(let set) = kind { set } else { nil } }

    var isOutside: Bool { outside != nil }
}

/// Cost estimates of set operations, in nanoseconds, by number of rows. Assumes that rows are evenly distributed: a container with
/// more than 4,096 of 65,536 rows is a bitmap, any other a sorted list.
private struct SetWork {
    private static let longestList = 4096.0
    private let blocks: Double

    init(blocks: Int) { self.blocks = Double(max(1, blocks)) }

    func narrowing(_ count: Int, by term: AudienceTerm) -> Double {
        switch term.kind {
        case .within(let set), .outside(let set): intersection(count, set.count)
        case .any(let terms): min(driven(count, by: terms), gathered(count, terms))
        case .all(let terms): terms.reduce(0) { $0 + intersection(count, $1.bound) }
        }
    }

    /// Whether intersecting with each term of a union is cheaper than computing the union first.
    func isDriven(_ count: Int, by terms: [AudienceTerm]) -> Bool { driven(count, by: terms) < gathered(count, terms) }

    private func driven(_ count: Int, by terms: [AudienceTerm]) -> Double {
        terms.reduce(0) { $0 + intersection(count, $1.bound) + union(count, min(count, $1.bound)) / 4 }
    }

    private func gathered(_ count: Int, _ terms: [AudienceTerm]) -> Double {
        var (work, sum) = (0.0, 0)
        for term in terms {
            work += sum == 0 ? 0 : union(sum, term.bound)
            sum += term.bound
        }
        return work + intersection(count, sum)
    }

    /// Cost of an intersection; a difference costs about the same.
    private func intersection(_ first: Int, _ second: Int) -> Double {
        let (few, many, touched) = perBlock(first, second)
        let work: Double =
            switch (few, many) {
            case (Self.longestList..., _): 2000
            case (_, Self.longestList...): few
            // CRoaring uses binary search if one list is 64 times longer than the other, otherwise it merges.
            case _ where few * 64 < many: 11 * few
            default: 8 * few + 0.4 * many
            }
        return touched * (40 + work)
    }

    private func union(_ first: Int, _ second: Int) -> Double {
        let (few, many, touched) = perBlock(first, second)
        let work: Double =
            switch (few, many) {
            case (Self.longestList..., _): 1800
            case (_, Self.longestList...): 350 + 1.2 * few
            case _ where few + many > Self.longestList: 1.3 * (few + many)
            default: 8 * few + many
            }
        return touched * (40 + work)
    }

    private func perBlock(_ first: Int, _ second: Int) -> (few: Double, many: Double, touched: Double) {
        let touched = max(1, min(blocks, Double(min(first, second))))
        return (Double(min(first, second)) / touched, Double(max(first, second)) / blocks, touched)
    }
}
