import CLua
import Glibc

/// The shapes of a function in the form that C reads. Any number of states can share one.
// @unchecked: written once, by `init`, and only read afterwards.
package final class LuaSchema: @unchecked Sendable {
    let arguments: UnsafeMutablePointer<clua_shape>
    let results: UnsafeMutablePointer<clua_shape>
    let keys: UnsafeMutablePointer<UnsafePointer<CChar>?>
    let keyCount: Int
    let argumentCount: Int
    let resultCount: Int
    let argumentSlots: Int
    let isFlat: Bool
    let isPlain: Bool

    package init(arguments: [LuaShape], results: [LuaShape]) {
        var names: [String] = []
        let arguments = arguments.filter(\.takesArgument)
        let memberCounts = arguments.compactMap(\.plainMemberCount)
        let memberCount = memberCounts.reduce(0, +)
        isPlain = memberCounts.count == arguments.count && memberCount <= CLUA_PLAIN_MEMBERS
        isFlat = memberCount == 0 && isPlain && results.count == 1 && (arguments + results).allSatisfy(\.isSimple)
        let nodes = Self.nodes(of: arguments, freeSlots: 0, &names)
        argumentSlots = nodes.count
        self.arguments = Self.copy(nodes)
        // The stack slots that remain after the arguments and the results before this one.
        let freeSlots = isPlain ? Int(LUA_MINSTACK) - memberCount - results.count : 0
        self.results = Self.copy(Self.nodes(of: results, freeSlots: freeSlots, &names))
        argumentCount = arguments.count
        resultCount = results.count
        keyCount = names.count
        keys = .allocate(capacity: max(1, names.count))
        for (index, name) in names.enumerated() {
            (keys + index).initialize(to: name.withCString { UnsafePointer(strdup($0)) })
        }
    }

    deinit {
        for index in 0..<keyCount { free(UnsafeMutablePointer(mutating: keys[index])) }
        keys.deallocate()
        arguments.deallocate()
        results.deallocate()
    }

    private static func nodes(of shapes: [LuaShape], freeSlots: Int, _ names: inout [String]) -> [clua_shape] {
        var nodes: [clua_shape] = []
        for shape in shapes { append(shape, name: nil, freeSlots: freeSlots, to: &nodes, &names) }
        return nodes
    }

    private static func copy(_ nodes: [clua_shape]) -> UnsafeMutablePointer<clua_shape> {
        let memory = UnsafeMutablePointer<clua_shape>.allocate(capacity: max(1, nodes.count))
        memory.initialize(from: nodes, count: nodes.count)
        return memory
    }

    /// - Parameter freeSlots: Guaranteed free stack slots, for which no check is needed.
    private static func append(
        _ shape: LuaShape, name: String?, freeSlots: Int, to nodes: inout [clua_shape], _ names: inout [String]
    ) {
        // A nested table needs two more slots below it, for a key and a value.
        let freeBelow = freeSlots - 2
        let index = nodes.count
        var node = clua_shape()
        node.is_optional = shape.isOptional
        node.stays = shape.stays
        node.is_plain = shape.isPlainRecord
        node.has_room = freeBelow >= 2
        if let name {
            let index = names.firstIndex(of: name) ?? names.count
            if index == names.count { names.append(name) }
            // The first upvalue is the signature. A C closure has at most 255 upvalues.
            precondition(index < 250, "a typed function has at most 250 member names")
            node.key = UInt8(index + 2)
        }
        nodes.append(node)
        switch shape.form {
        case .nothing: preconditionFailure("only an argument can be nothing")
        case .simple(let kind): nodes[index].kind = UInt8(kind)
        case .record(let members, let isExact, let alone):
            nodes[index].kind = UInt8(CLUA_RECORD)
            nodes[index].is_exact = isExact
            nodes[index].members = UInt16(members.count)
            nodes[index].alone = alone.flatMap { name in members.firstIndex { $0.name == name } }.map { Int16($0 + 1) } ?? 0
            for member in members { append(member.shape, name: member.name, freeSlots: freeBelow, to: &nodes, &names) }
        case .list(let element):
            nodes[index].kind = UInt8(CLUA_LIST)
            append(element, name: nil, freeSlots: freeBelow, to: &nodes, &names)
        case .map(let element):
            nodes[index].kind = UInt8(CLUA_MAP)
            append(element, name: nil, freeSlots: freeBelow, to: &nodes, &names)
        }
        nodes[index].size = UInt16(nodes.count - index)
    }
}

extension LuaShape {
    fileprivate var stays: Bool {
        switch form {
        case .nothing: false
        case .simple(let kind): kind == CLUA_VALUE || kind == CLUA_FUNCTION
        case .list(let element), .map(let element): element.stays
        case .record(let members, _, _): members.contains { $0.shape.stays }
        }
    }

    fileprivate var isSimple: Bool {
        if case .simple = form { true } else { false }
    }

    fileprivate var isPlainRecord: Bool {
        if case .record(let members, _, _) = form { members.allSatisfy(\.shape.isSimple) } else { false }
    }

    /// Number of members on the stack while it is read, if each needs only one slot; otherwise nil.
    fileprivate var plainMemberCount: Int? {
        switch form {
        case .simple: 0
        case .record(let members, isExact: false, _) where isPlainRecord: members.count
        default: nil
        }
    }

    fileprivate var takesArgument: Bool {
        if case .nothing = form { false } else { true }
    }
}
