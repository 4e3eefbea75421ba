import Lua

/// The names available to scripts, with what is known of their values.
struct Vocabulary: Sendable {
    private let registry: BindingRegistry
    private var names: NameIndex { registry.names }

    init(_ registry: BindingRegistry) { self.registry = registry }

    func binding(named name: String) -> Binding? { registry.binding(named: name) }

    func isNamespace(_ path: String) -> Bool { names.isNamespace(path) }

    func names(in namespace: String) -> [String] { names.names(in: namespace) }

    /// The handle for a type name; nil for tables.
    func handle(of type: String) -> String? { names.handle(of: type) }

    /// Methods and fields of a handle.
    func members(of handle: String) -> Set<String> { names.members(of: handle) }

    /// Methods and fields of all handles.
    var allMembers: Set<String> { names.allMembers }

    /// Fields of all tables that bindings return.
    var allFields: Set<String> { names.allFields }

    func type(named name: String) -> TypeDescription? { names.type(named: name) }

    func type(labelled label: String) -> TypeDescription? { names.type(labelled: label) }

    /// The binding called by a colon and `name` after a value.
    func method(_ name: String, of owner: Knowledge) -> Binding? {
        switch owner {
        case .namespace(let path): binding(named: "\(path):\(name)")
        case .instance(let type): handle(of: type).flatMap { binding(named: "\($0):\(name)") }
        default: nil
        }
    }

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
        guard name.hasPrefix("push."), name.dropFirst(5).allSatisfy(\.isLetter), type(named: String(name))?.values.isEmpty != false else {
            return .unknown
        }
        return .instance(String(name))
    }
}
