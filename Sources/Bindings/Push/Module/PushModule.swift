import Lua
import PushModel

/// Builds the `push` module of a run. In plugins each call has a run of its own attached.
enum PushModule {
    static let name = "push"

    static let types: [LuaObjectType] = [
        SessionObject.type, DeviceObject.type, SimulatorObject.type,
        PluginObject.type,
        .handle("secret", of: Secret.self, describe: { _ in "***" }),
        .handle("everyone", of: EveryoneObject.self, describe: { _ in "push.everyone" }),
        .handle("null", of: JSONNull.self, describe: { _ in "null" }), .handle("numeral", of: JSONNumeral.self, describe: { $0.text }),
    ]

    /// - Parameter home: The run of calls that have no attached run.
    static func module(of registry: BindingRegistry, for home: FlowRun) -> LuaModule {
        let bindings = registry.bindings.compactMap { function(for: $0, registry.schema(of: $0), home) }
        var module = LuaModule(
            name: name, functions: bindings + HostFunctions.all(registry, home),
            types: types + (home.plugin == nil ? [] : HookObjects.types), globals: HostFunctions.globals(home), prelude: preludes.first)
        module.laterPreludes = Array(preludes.dropFirst())
        return module
    }

    /// The Lua sources of the module, in the order in which they build it.
    static let preludes = [
        LuaScript(name: "=[push]", source: PackageResources.push_lua),
        LuaScript(name: "=[comparisons]", source: PackageResources.comparisons_lua),
        LuaScript(name: "=[expectations]", source: PackageResources.expectations_lua),
        LuaScript(name: "=[properties]", source: PackageResources.properties_lua),
    ]

    private static func function(for binding: Binding, _ schema: LuaSchema?, _ home: FlowRun) -> LuaFunction? {
        guard let schema else { return nil }
        let body: TypedFunction.Body
        switch binding.body.kind {
        case .prelude: return nil
        case .sync(let answer):
            body = .sync { reader, writer in
                let run = home.attached(reader.attachment)
                try run.admit(binding.name, binding.conditions)
                let arguments = try Arguments(&reader, for: binding)
                do {
                    try answer(arguments, run)(&writer)
                } catch {
                    throw script(error)
                }
            }
        case .async(let kind, let answer):
            body = .async { reader in
                let run = home.attached(reader.attachment)
                try run.admit(binding.name, binding.conditions)
                let arguments = try Arguments(&reader, for: binding)
                return {
                    do {
                        let operation = RunOperation(run: run, memory: arguments.workingMemory, kind: kind)
                        return try await operation.perform { try await answer(arguments, run) }
                    } catch {
                        throw script(error)
                    }
                }
            }
        }
        // The fallback for arguments that do not match the schema: produces the error.
        let refusal = LuaFunction.sync(binding.name) { call in
            try home.attached(call.attachment).admit(binding.name, binding.conditions)
            _ = try Arguments(call, for: binding)
            throw LuaError.misuse("args.wrong_type", "\(binding.name) cannot take this", hint: "write \(binding.signature)")
        }
        return LuaFunction(binding.name, TypedFunction(schema, fallback: refusal, body: body))
    }

    /// Converts an error of the core for scripts.
    private static func script(_ error: any Error) -> any Error {
        switch error {
        case let error as PushError: LuaError(error)
        case let error as TagError: LuaError(PushError(error))
        case let error as TagExpressionError: LuaError(PushError(error))
        default: error
        }
    }
}
