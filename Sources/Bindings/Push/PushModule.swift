import Lua
import PushCore

/// The `push` module of one run.
enum PushModule {
    static let name = "push"

    static let types: [LuaObjectType] = [
        SessionObject.type, DeviceObject.type, SimulatorObject.type,
        .handle("secret", of: Secret.self, describe: { _ in "***" }),
        .handle("everyone", of: EveryoneObject.self, describe: { _ in "push.everyone" }),
    ]

    static func module(for run: FlowRun) -> LuaModule {
        let bindings = BindingRegistry.all.compactMap { function(for: $0, run) }
        return LuaModule(
            name: name, functions: bindings + HostFunctions.all(run),
            types: types, globals: HostFunctions.globals(run),
            prelude: LuaScript(name: "=[push]", source: PackageResources.push_lua))
    }

    private static func function(for binding: Binding, _ run: FlowRun) -> LuaFunction? {
        switch binding.body {
        case .prelude: nil
        case .sync(let body):
            .sync(binding.name) { call in
                try run.admit(binding)
                let arguments = try Arguments(call, for: binding)
                do {
                    return try body(arguments, run)
                } catch {
                    throw script(error)
                }
            }
        case .async(let body):
            .async(binding.name) { call in
                try run.admit(binding)
                let arguments = try Arguments(call, for: binding)
                do {
                    return try await body(arguments, run)
                } catch {
                    throw script(error)
                }
            }
        }
    }

    /// What a script sees of an error of the core.
    private static func script(_ error: any Error) -> any Error {
        switch error {
        case let error as PushError: LuaError(error)
        case let error as TagError: LuaError(PushError(error))
        case let error as TagExpressionError: LuaError(PushError(error))
        default: error
        }
    }
}
