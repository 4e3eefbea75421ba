import Lua

/// An index of the names that scripts can use: namespaces and types with their members.
struct NameIndex: Sendable {
    private let types: [String: TypeDescription]
    /// Members by namespace: `push.tag` has `user`, `any`, …; `push` has `send`, `tag`, ….
    private var namespaces: [String: Set<String>] = [:]
    /// Members by handle: `session` has `register`, `username`, ….
    private var members: [String: Set<String>] = [:]
    /// Handles by type: `push.Session` is `session`.
    private var handles: [String: String] = [:]

    init(_ bindings: [Binding], types: [TypeDescription], handles: [LuaObjectType]) {
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

    func isNamespace(_ path: String) -> Bool { namespaces[path] != nil }

    func names(in namespace: String) -> [String] { namespaces[namespace].map { $0.sorted() } ?? [] }

    /// The handle for a type name; nil for tables.
    func handle(of type: String) -> String? { handles[type] }

    /// Methods and fields of a handle.
    func members(of handle: String) -> Set<String> { members[handle] ?? [] }

    /// Methods and fields of all handles.
    var allMembers: Set<String> { members.values.reduce(into: []) { $0.formUnion($1) } }

    /// Fields of all tables that bindings return.
    var allFields: Set<String> { Set(types.values.flatMap { $0.fields.map(\.name) }) }

    func type(named name: String) -> TypeDescription? { types[name] }

    func type(labelled label: String) -> TypeDescription? { types.values.first { $0.label == label } }
}
