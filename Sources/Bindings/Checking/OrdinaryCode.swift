/// Which parts of a script run on every target, as far as its text tells: all but what stands in rehearsals and in tests, and
/// the functions that are called from there alone.
struct OrdinaryCode: Sendable {
    /// What a function may be reached by.
    enum Name: Hashable, Sendable {
        case variable(Int)
        case global(String)
        /// Of any table: `check` for `helpers.check` and `helpers:check`.
        case field(String)
    }

    enum Use: Hashable, Sendable {
        /// Where it is written.
        case here
        /// In no way that the text shows.
        case nowhere
        /// Where the name is used.
        case by(Name)
    }

    private struct Part: Sendable {
        let outer: Int
        let use: Use
        var inner: [Int] = []
        var names: Set<Name> = []
    }

    /// The script itself is the first.
    private var parts = [Part(outer: 0, use: .here)]
    /// The part that is read now.
    private(set) var current = 0
    /// By the place of a function.
    private var uses: [Int: Use] = [:]

    mutating func enter(_ use: Use) {
        parts[current].inner.append(parts.count)
        parts.append(Part(outer: current, use: use))
        current = parts.count - 1
    }

    mutating func leave(to outer: Int) { current = outer }

    mutating func note(_ name: Name) { parts[current].names.insert(name) }

    /// How the function at a place is used, which is read later. What is said first counts.
    mutating func note(_ use: Use, ofFunctionAt place: Int) {
        if uses[place] == nil { uses[place] = use }
    }

    func use(ofFunctionAt place: Int) -> Use { uses[place] ?? .nowhere }

    /// The parts that run outside of rehearsals.
    var ordinary: Set<Int> {
        let waiting = Dictionary(grouping: parts.indices.dropFirst(), by: { parts[$0].use })
        var (found, names, open) = (Set([0]), Set<Name>(), [0])
        while let part = open.popLast() {
            let new = parts[part].names.subtracting(names)
            names.formUnion(new)
            let candidates = parts[part].inner + new.flatMap { waiting[.by($0)] ?? [] }
            for candidate in candidates where found.contains(parts[candidate].outer) {
                let isUsed =
                    switch parts[candidate].use {
                    case .here: true
                    case .nowhere: false
                    case .by(let name): names.contains(name)
                    }
                if isUsed, found.insert(candidate).inserted { open.append(candidate) }
            }
        }
        return found
    }
}
