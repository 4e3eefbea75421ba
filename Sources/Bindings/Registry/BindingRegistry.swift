import Lua
import Synchronization

/// The functions and types of the `push` module, in the order of the reference. Argument checks, help, stubs and reference are generated
/// from them.
///
/// A program builds one and hands it to everything that runs, checks or describes scripts. It never changes.
package final class BindingRegistry: Sendable {
    package let bindings: [Binding]
    package let types: [TypeDescription]
    /// The handles that scripts hold.
    let handles: [LuaObjectType]
    private let byName: [String: Binding]
    /// Call schemas by binding name, computed once for all runs.
    private let schemas: [String: LuaSchema]
    /// The names that scripts can use, once they are needed. Most runs do not need them.
    private let index = Mutex<NameIndex?>(nil)

    init(_ bindings: [Binding], types: [TypeDescription], handles: [LuaObjectType]) {
        self.bindings = bindings
        self.types = types
        self.handles = handles
        byName = Dictionary(bindings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        schemas = byName.mapValues(\.schema)
    }

    /// The registry with the functions that a program adds.
    func adding(_ added: [Binding]) -> BindingRegistry {
        added.isEmpty ? self : BindingRegistry(bindings + added, types: types, handles: handles)
    }

    /// The names that scripts can use.
    var names: NameIndex {
        index.withLock { index in
            let names = index ?? NameIndex(bindings, types: types, handles: handles)
            index = names
            return names
        }
    }

    package func binding(named name: String) -> Binding? { byName[name] }

    func schema(of binding: Binding) -> LuaSchema? { schemas[binding.name] }

    /// Finds a type by its full or short name: `push.Outcome`, `Outcome`.
    package func type(named name: String) -> TypeDescription? {
        types.first { $0.name == name || $0.shortName == name }
    }

    /// The methods of a type.
    package func methods(of type: TypeDescription) -> [Binding] {
        bindings.filter { $0.receiver.map { ParameterType.object($0).annotation } == type.name }
    }

    /// The bindings that return a type or a list of it.
    package func sources(of type: TypeDescription) -> [Binding] {
        bindings.filter { $0.returns?.names.contains(type.name) == true }
    }

    /// The bindings that can raise an error.
    package func bindings(raising code: String) -> [Binding] { bindings.filter { $0.errors.contains(code) } }
}
