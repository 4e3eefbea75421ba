/// Reduced ordered binary decision diagrams over tags. Each Boolean function of tags has exactly one node, so that equal functions are the
/// same node.
struct TagDiagram {
    /// Index of a node: 0 is the function that is never true, 1 the one that is always true.
    typealias Node = Int32

    /// The operation would exceed the maximum number of steps.
    struct Exhausted: Error {}

    static let never: Node = 0
    static let always: Node = 1

    private struct Branch: Hashable {
        /// Index of the tag; for a leaf, the number of tags.
        let tagIndex: Int32
        let absent: Node
        let present: Node
    }

    private enum Operation: UInt8 { case and, or, difference }

    private struct Step: Hashable {
        let operation: Operation
        let first: Node
        let second: Node
    }

    private let tags: [Tag]
    private let tagIndexes: [Tag: Int32]
    private var steps: Int
    /// A node comes after its children.
    private var branches: [Branch]
    private var numbers: [Branch: Node] = [:]
    private var results: [Step: Node] = [:]

    /// - Parameter tags: without duplicates, in the order of the diagram.
    init(_ tags: [Tag], maximumSteps: Int) {
        self.tags = tags
        tagIndexes = Dictionary(uniqueKeysWithValues: tags.enumerated().map { ($1, Int32($0)) })
        steps = maximumSteps
        let end = Int32(tags.count)
        branches = [
            Branch(tagIndex: end, absent: Self.never, present: Self.never),
            Branch(tagIndex: end, absent: Self.always, present: Self.always),
        ]
    }

    // MARK: - Construction

    /// The node for an expression.
    mutating func node(of expression: TagExpression) throws(Exhausted) -> Node {
        switch expression {
        case .tag(let tag):
            // A registration cannot have a tag that is not in the diagram.
            guard let tagIndex = tagIndexes[tag] else { return Self.never }
            return branch(at: tagIndex, absent: Self.never, present: Self.always)
        case .not(let term): return try difference(try node(of: term), Self.always)
        case .and(let terms): return try fold(terms, .and, from: Self.always)
        case .or(let terms): return try fold(terms, .or, from: Self.never)
        }
    }

    /// The node that is true where exactly one of the two is (exclusive or).
    mutating func difference(_ first: Node, _ second: Node) throws(Exhausted) -> Node { try combine(.difference, first, second) }

    /// Combines terms starting with those of the last tags, so that each is added on top of the result so far.
    private mutating func fold(_ terms: [TagExpression], _ operation: Operation, from start: Node) throws(Exhausted) -> Node {
        var nodes: [Node] = []
        for term in terms { nodes.append(try node(of: term)) }
        nodes.sort { branches[Int($0)].tagIndex > branches[Int($1)].tagIndex }
        var result = start
        for node in nodes { result = try combine(operation, node, result) }
        return result
    }

    private mutating func combine(_ operation: Operation, _ first: Node, _ second: Node) throws(Exhausted) -> Node {
        if let known = Self.known(operation, first, second) { return known }
        // All three operations are commutative.
        let step = Step(operation: operation, first: min(first, second), second: max(first, second))
        if let known = results[step] { return known }
        guard steps > 0 else { throw Exhausted() }
        steps -= 1
        let (left, right) = (branches[Int(first)], branches[Int(second)])
        let tagIndex = min(left.tagIndex, right.tagIndex)
        let absent = try combine(
            operation, left.tagIndex == tagIndex ? left.absent : first, right.tagIndex == tagIndex ? right.absent : second)
        let present = try combine(
            operation, left.tagIndex == tagIndex ? left.present : first, right.tagIndex == tagIndex ? right.present : second)
        let result = branch(at: tagIndex, absent: absent, present: present)
        results[step] = result
        return result
    }

    private static func known(_ operation: Operation, _ first: Node, _ second: Node) -> Node? {
        switch operation {
        case .and:
            if first == never || second == never { return never }
            if first == always || first == second { return second }
            return second == always ? first : nil
        case .or:
            if first == always || second == always { return always }
            if first == never || first == second { return second }
            return second == never ? first : nil
        case .difference:
            if first == second { return never }
            if first == never { return second }
            return second == never ? first : nil
        }
    }

    private mutating func branch(at tagIndex: Int32, absent: Node, present: Node) -> Node {
        guard absent != present else { return absent }
        let branch = Branch(tagIndex: tagIndex, absent: absent, present: present)
        if let known = numbers[branch] { return known }
        let number = Node(branches.count)
        branches.append(branch)
        numbers[branch] = number
        return number
    }

    // MARK: - Smallest set

    /// Number of further tags needed to reach `always`, by the reserved forms already used.
    private struct Ways {
        static let none = Int32.max
        /// Indexed by the reserved forms already used: bit 0 for the first form, bit 1 for the second.
        var fewest: [Int32]
    }

    /// A smallest set of tags for which a node is true, among possible registrations; nil if there is none.
    func smallestSet(in node: Node) -> [Tag]? {
        let forms = tags.map(\.formBit)
        // Children come before their parents, so their results are known.
        var ways = [Ways(fewest: [Ways.none, Ways.none, Ways.none, Ways.none]), Ways(fewest: [0, 0, 0, 0])]
        ways.reserveCapacity(Int(node) + 1)
        for branch in branches.prefix(Int(node) + 1).dropFirst(2) {
            let form = forms[Int(branch.tagIndex)]
            ways.append(
                Ways(
                    fewest: (0..<4).map { taken in
                        let absent = ways[Int(branch.absent)].fewest[taken]
                        guard taken & form == 0 else { return absent }
                        let present = ways[Int(branch.present)].fewest[taken | form]
                        return min(absent, present == Ways.none ? Ways.none : present + 1)
                    }))
        }
        guard ways[Int(node)].fewest[0] != Ways.none else { return nil }
        var (found, taken, at): ([Tag], Int, Node) = ([], 0, node)
        while at > Self.always {
            let branch = branches[Int(at)]
            let form = forms[Int(branch.tagIndex)]
            // Among sets of equal size, choose the one with the tags that occur first.
            let rest = taken & form == 0 ? ways[Int(branch.present)].fewest[taken | form] : Ways.none
            if rest != Ways.none, rest + 1 == ways[Int(at)].fewest[taken] {
                found.append(tags[Int(branch.tagIndex)])
                (taken, at) = (taken | form, branch.present)
            } else {
                at = branch.absent
            }
        }
        return found
    }
}

extension Tag {
    /// 1 and 2 for the forms of which a registration has at most one tag each; 0 for other tags.
    fileprivate var formBit: Int {
        guard let form = reservedForm else { return 0 }
        return form == Tag.reservedForms[0] ? 1 : 2
    }
}
