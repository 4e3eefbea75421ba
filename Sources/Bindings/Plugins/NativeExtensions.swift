import Lua
import PushModel
import Synchronization

/// Functions and plugins that a program adds in Swift. They must be added before the list of functions is first read.
package enum NativeExtensions {
    private struct State {
        var bindings: [Binding] = []
        var plugins: [NativePluginType] = []
        /// Whether the list of functions has been read.
        var isSettled = false
    }

    private static let state = Mutex(State())

    /// Adds functions and plugins. Throws `native.*` if a name is invalid or already used, or if it is too late.
    package static func add(bindings: [Binding], plugins: [NativePluginType]) throws(PushError) {
        var names: Set<String> = []
        for binding in bindings {
            try checkName(binding.name)
            guard names.insert(binding.name).inserted else { throw taken(binding.name, "it is added twice") }
        }
        var pluginNames: Set<String> = []
        for plugin in plugins {
            guard PluginSource.isName(plugin.name) else {
                throw PushError(
                    "native.name", "\"\(plugin.name.prefix(60))\" is not a valid plugin name",
                    hint: "use at most 40 lower-case letters and digits, with - between them, such as quiet-hours")
            }
            guard pluginNames.insert(plugin.name).inserted else { throw taken(plugin.name, "two native plugins have this name") }
        }
        let isLate = state.withLock { state in
            guard !state.isSettled else { return true }
            state.bindings += bindings
            state.plugins += plugins
            return false
        }
        if isLate {
            throw PushError(
                "native.late", "functions were added after the list of functions was read", hint: "add them when the program starts")
        }
    }

    /// The added functions. Reading them ends the time in which functions can be added.
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
                "native.name", "\"\(name.prefix(80))\" is not a valid function name",
                hint: "use SPACE.NAME with lower-case letters, digits and _, such as geo.distance")
        }
        let space = "push.\(parts.1)"
        let isTaken = BindingRegistry.builtIn.contains { binding in
            binding.name == space || binding.name.hasPrefix(space + ".") || binding.name.hasPrefix(space + ":")
        }
        if isTaken || reservedSpaces.contains(space) { throw taken(name, "\(space) is reserved by PushHost") }
    }

    /// Names in the module besides its functions.
    private static let reservedSpaces: Set<String> = ["push.test", "push.log", "push.config"]

    private static func taken(_ name: String, _ why: String) -> PushError {
        PushError("native.name", "\"\(name)\" cannot be added: \(why)", hint: "choose another name")
    }
}

extension Binding {
    /// A function that the program adds, called with one table of arguments. Plugin scripts need the capability `native:SPACE`.
    ///
    /// - Parameters:
    ///   - name: Name without prefix, such as `geo.distance`.
    ///   - returns: Result type in editor notation; nil if there is no result.
    ///   - errors: Codes of errors that it throws.
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
