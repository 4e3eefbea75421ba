/// Determines which parts of a script run on every target, as far as its text shows. Excluded are rehearsals, tests, and functions called
/// only from them.
struct UnconditionalCode: Sendable {
    /// A name by which a function can be called.
    enum Name: Hashable, Sendable {
        case variable(Int)
        case global(String)
        /// A field of any table: `check` for `helpers.check` and `helpers:check`.
        case field(String)
    }

    enum Use: Hashable, Sendable {
        /// Runs where it is written.
        case here
        /// No use is visible in the text.
        case nowhere
        /// Runs where the name is used.
        case by(Name)
    }

    private struct Part: Sendable {
        let outer: Int
        let use: Use
        var inner: [Int] = []
        var names: Set<Name> = []
    }

    /// The first part is the script itself.
    private var parts = [Part(outer: 0, use: .here)]
    /// Index of the part being visited.
    private(set) var current = 0
    /// Uses of functions, by the offset where the function begins.
    private var uses: [Int: Use] = [:]

    mutating func enter(_ use: Use) {
        parts[current].inner.append(parts.count)
        parts.append(Part(outer: current, use: use))
        current = parts.count - 1
    }

    mutating func leave(to outer: Int) { current = outer }

    mutating func note(_ name: Name) { parts[current].names.insert(name) }

    /// Records how the function at `index` is used, before the function is visited. The first use recorded wins.
    mutating func note(_ use: Use, ofFunctionAt index: Int) {
        if uses[index] == nil { uses[index] = use }
    }

    func use(ofFunctionAt index: Int) -> Use { uses[index] ?? .nowhere }

    /// The parts that run outside rehearsals and tests.
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
