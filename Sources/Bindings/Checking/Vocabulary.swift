import Lua

/// The names available to scripts, indexed from the binding registry: namespaces and types with their members.
struct Vocabulary: Sendable {
    static let shared = Vocabulary(BindingRegistry.all, types: BindingRegistry.types, handles: PushModule.types)

    private let bindings: [String: Binding]
    private let types: [String: TypeDescription]
    /// Members by namespace: `push.tag` has `user`, `any`, …; `push` has `send`, `tag`, ….
    private var namespaces: [String: Set<String>] = [:]
    /// Members by handle: `session` has `register`, `username`, ….
    private var members: [String: Set<String>] = [:]
    /// Handles by type: `push.Session` is `session`.
    private var handles: [String: String] = [:]

    init(_ bindings: [Binding], types: [TypeDescription], handles: [LuaObjectType]) {
        self.bindings = Dictionary(bindings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.types = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for binding in bindings {
            if let receiver = binding.receiver { members[receiver, default: []].insert(binding.shortName) }
            let path = (binding.receiver ?? binding.name).split(separator: ".").map(String.init)
            for length in 1..<max(1, path.count) {
                namespaces[path[..<length].joined(separator: "."), default: []].insert(path[length])
            }
        }
        // The receiver of `push.simulator.apns:fail` is itself a namespace.
        for (name, names) in members where name.contains(".") { namespaces[name, default: []].formUnion(names) }
        for handle in handles { members[handle.name, default: []].formUnion(handle.propertyNames) }
        for name in members.keys where !name.contains(".") { self.handles[ParameterType.object(name).annotation] = name }
    }

    func binding(named name: String) -> Binding? { bindings[name] }

    func isNamespace(_ path: String) -> Bool { namespaces[path] != nil }

    func names(in namespace: String) -> [String] { namespaces[namespace].map { $0.sorted() } ?? [] }

    /// The handle for a type name; nil for tables.
    func handle(of type: String) -> String? { handles[type] }

    /// The binding called by a colon and `name` after a value.
    func method(_ name: String, of owner: Knowledge) -> Binding? {
        switch owner {
        case .namespace(let path): binding(named: "\(path):\(name)")
        case .instance(let type): handle(of: type).flatMap { binding(named: "\($0):\(name)") }
        default: nil
        }
    }

    /// Methods and fields of a handle.
    func members(of handle: String) -> Set<String> { members[handle] ?? [] }

    /// Methods and fields of all handles.
    var allMembers: Set<String> { members.values.reduce(into: []) { $0.formUnion($1) } }

    /// Fields of all tables that bindings return.
    var allFields: Set<String> { Set(types.values.flatMap { $0.fields.map(\.name) }) }

    func type(named name: String) -> TypeDescription? { types[name] }

    func type(labelled label: String) -> TypeDescription? { types.values.first { $0.label == label } }

    /// What is known of a value of an annotated type: `push.Device`, `push.Device[]`, `push.InboxItem|nil`, `table<string,
    /// push.Simulator>`, `fun(): push.Installation?`. An optional type counts as its non-nil type, because using nil fails in any case.
    func knowledge(of annotation: String) -> Knowledge {
        var name = annotation[...]
        if name.hasSuffix("?") { name.removeLast() }
        if name.hasSuffix("|nil") { name.removeLast(4) }
        if name.hasPrefix("fun(): ") { return .function(results: knowledge(of: String(name.dropFirst(7)))) }
        if name.hasSuffix("[]") { return .list(knowledge(of: String(name.dropLast(2)))) }
        if name.hasPrefix("table<"), name.hasSuffix(">"), let comma = name.firstIndex(of: ",") {
            return .dictionary(knowledge(of: String(name[comma...].dropFirst().dropLast().drop { $0 == " " })))
        }
        guard name.hasPrefix("push."), name.dropFirst(5).allSatisfy(\.isLetter), types[String(name)]?.values.isEmpty != false else {
            return .unknown
        }
        return .instance(String(name))
    }
}
