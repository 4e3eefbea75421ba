import CLua
import Glibc

/// The shapes of a function as C reads them. Can serve any number of states.
// @unchecked: written once, by `init`, and only read afterwards.
package final class LuaSchema: @unchecked Sendable {
    let arguments: UnsafeMutablePointer<clua_shape>
    let results: UnsafeMutablePointer<clua_shape>
    let keys: UnsafeMutablePointer<UnsafePointer<CChar>?>
    let keyCount: Int
    let argumentCount: Int
    let resultCount: Int
    let isFlat: Bool
    let isSingle: Bool

    package init(arguments: [LuaShape], results: [LuaShape]) {
        var names: [String] = []
        let arguments = arguments.filter(\.takesArgument)
        self.arguments = Self.nodes(of: arguments, &names)
        self.results = Self.nodes(of: results, &names)
        argumentCount = arguments.count
        isSingle = results.count == 1 && results[0].isSimple
        isFlat = arguments.count <= CLUA_FLAT_ARGUMENTS && arguments.allSatisfy(\.isSimple)
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

    private static func nodes(of shapes: [LuaShape], _ names: inout [String]) -> UnsafeMutablePointer<clua_shape> {
        var nodes: [clua_shape] = []
        for shape in shapes { append(shape, name: nil, to: &nodes, &names) }
        let memory = UnsafeMutablePointer<clua_shape>.allocate(capacity: max(1, nodes.count))
        memory.initialize(from: nodes, count: nodes.count)
        return memory
    }

    private static func append(_ shape: LuaShape, name: String?, to nodes: inout [clua_shape], _ names: inout [String]) {
        let place = nodes.count
        var node = clua_shape()
        node.is_optional = shape.isOptional
        node.stays = shape.stays
        if let name {
            let index = names.firstIndex(of: name) ?? names.count
            if index == names.count { names.append(name) }
            // The first upvalue is the signature; a C closure has at most 255.
            precondition(index < 250, "a typed function has at most 250 names of members")
            node.key = UInt8(index + 2)
        }
        nodes.append(node)
        switch shape.form {
        case .nothing: preconditionFailure("only an argument can be nothing")
        case .simple(let kind): nodes[place].kind = UInt8(kind)
        case .record(let members, let isExact, let alone):
            nodes[place].kind = UInt8(CLUA_RECORD)
            nodes[place].is_exact = isExact
            nodes[place].members = UInt16(members.count)
            nodes[place].alone = alone.flatMap { name in members.firstIndex { $0.name == name } }.map { Int16($0 + 1) } ?? 0
            for member in members { append(member.shape, name: member.name, to: &nodes, &names) }
        case .list(let element):
            nodes[place].kind = UInt8(CLUA_LIST)
            append(element, name: nil, to: &nodes, &names)
        case .map(let element):
            nodes[place].kind = UInt8(CLUA_MAP)
            append(element, name: nil, to: &nodes, &names)
        }
        nodes[place].size = UInt16(nodes.count - place)
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

    fileprivate var takesArgument: Bool {
        if case .nothing = form { false } else { true }
    }
}
