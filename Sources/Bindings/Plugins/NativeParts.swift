import Lua
import PushCore
import Synchronization

/// What a program adds to PushHost in Swift. It is said once, before anything else: the list of functions is made when it is first read.
package enum NativeParts {
    private struct State {
        var bindings: [Binding] = []
        var plugins: [NativePluginType] = []
        /// Somebody has read it.
        var isSettled = false
    }

    private static let state = Mutex(State())

    /// Throws `native.*` for names that cannot be, that stand for something else already, or come too late.
    package static func add(bindings: [Binding], plugins: [NativePluginType]) throws(PushError) {
        var names: Set<String> = []
        for binding in bindings {
            try checkName(binding.name)
            guard names.insert(binding.name).inserted else { throw taken(binding.name, "it is there twice") }
        }
        var pluginNames: Set<String> = []
        for plugin in plugins {
            guard PluginSource.isName(plugin.name) else {
                throw PushError(
                    "native.name", "\"\(plugin.name.prefix(60))\" cannot be a plugin's name",
                    hint: "use small letters and digits, with - between them, at most 40, such as quiet-hours")
            }
            guard pluginNames.insert(plugin.name).inserted else { throw taken(plugin.name, "two plugins of the program are called so") }
        }
        let isLate = state.withLock { state in
            guard !state.isSettled else { return true }
            state.bindings += bindings
            state.plugins += plugins
            return false
        }
        if isLate {
            throw PushError("native.late", "functions were added after some were looked for", hint: "add them where the program begins")
        }
    }

    /// Read for the list of all functions.
    static var bindings: [Binding] {
        state.withLock { state in
            state.isSettled = true
            return state.bindings
        }
    }

    package static var plugins: [NativePluginType] { state.withLock { $0.plugins } }

    package static func plugin(named name: String) -> NativePluginType? { plugins.first { $0.name == name } }

    private static func checkName(_ name: String) throws(PushError) {
        guard let parts = name.wholeMatch(of: /push\.([a-z][a-z0-9_]*)\.([a-z][a-z0-9_]*)/) else {
            throw PushError(
                "native.name", "\"\(name.prefix(80))\" cannot be a function's name",
                hint: "call it SPACE.NAME, such as geo.distance: small letters, digits and _")
        }
        let space = "push.\(parts.1)"
        let isTaken = BindingRegistry.builtIn.contains { binding in
            binding.name == space || binding.name.hasPrefix(space + ".") || binding.name.hasPrefix(space + ":")
        }
        if isTaken || reservedSpaces.contains(space) { throw taken(name, "\(space) is PushHost's own") }
    }

    /// What the module has beside its functions.
    private static let reservedSpaces: Set<String> = ["push.test", "push.log", "push.config"]

    private static func taken(_ name: String, _ why: String) -> PushError {
        PushError("native.name", "\"\(name)\" cannot be added: \(why)", hint: "choose another name")
    }
}

extension Binding {
    /// A function of a program's own, in one table of arguments. Scripts of plugins need the capability `native:SPACE` for it.
    ///
    /// - Parameters:
    ///   - name: `geo.distance`.
    ///   - returns: as editors have it; nil: nothing.
    ///   - errors: codes that it raises.
    package static func native(
        _ name: String, _ summary: String, parameters: [Parameter], returns: String?, errors: [String], example: String,
        _ answer: @escaping @Sendable ([String: LuaValue]) async throws -> LuaValue
    ) -> Binding {
        let space = String(name.prefix { $0 != "." })
        let full = "push.\(name)"
        return Binding(
            full, summary, style: .table, parameters: parameters, returns: returns.map { Returns(type: $0) }, phases: .running,
            errors: errors, example: example,
            body: .async { arguments, run in
                try run.demand(.native(space: space), for: full)
                return try await answer(
                    parameters.reduce(into: [:]) { values, parameter in values[parameter.name] = arguments.value(parameter.name) })
            })
    }
}
