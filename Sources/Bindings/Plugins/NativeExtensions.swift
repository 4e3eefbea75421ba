package import Lua
package import PushModel

/// Functions and plugins that a program adds in Swift. Empty for `pushhost` itself.
package struct NativeExtensions: Sendable {
    fileprivate let bindings: [Binding]
    fileprivate let plugins: [NativePluginType]

    /// No additions.
    package static let none = NativeExtensions()

    private init() { (bindings, plugins) = ([], []) }

    /// Throws `native.name` if a name is invalid or already used.
    package init(bindings: [Binding], plugins: [NativePluginType]) throws(PushError) {
        var names: Set<String> = []
        for binding in bindings {
            try Self.checkName(binding.name)
            guard names.insert(binding.name).inserted else { throw Self.taken(binding.name, "it is added twice") }
        }
        var pluginNames: Set<String> = []
        for plugin in plugins {
            guard PluginSource.isName(plugin.name) else {
                throw PushError(
                    "native.name", "\"\(plugin.name.prefix(60))\" is not a valid plugin name",
                    hint: "use at most 40 lower-case letters and digits, with - between them, such as quiet-hours")
            }
            guard pluginNames.insert(plugin.name).inserted else { throw Self.taken(plugin.name, "two native plugins have this name") }
        }
        self.bindings = bindings
        self.plugins = plugins
    }

    private static func checkName(_ name: String) throws(PushError) {
        guard let parts = name.wholeMatch(of: /push\.([a-z][a-z0-9_]*)\.([a-z][a-z0-9_]*)/) else {
            throw PushError(
                "native.name", "\"\(name.prefix(80))\" is not a valid function name",
                hint: "use SPACE.NAME with lower-case letters, digits and _, such as geo.distance")
        }
        let space = "push.\(parts.1)"
        let isTaken = BindingRegistry.standard.bindings.contains { binding in
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

/// The extensions of a program: the registry of its functions, and its native plugins. Built once and handed down.
package struct HostProgram: Sendable {
    package let registry: BindingRegistry
    package let plugins: [NativePluginType]

    package init(_ extensions: NativeExtensions = .none) {
        registry = BindingRegistry.standard.adding(extensions.bindings)
        plugins = extensions.plugins
    }

    package func plugin(named name: String) -> NativePluginType? { plugins.first { $0.name == name } }
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
            full, summary,
            takes: .table(parameters),
            returns: returns.map { Returns(type: $0) }, when: .in(.running), errors: errors,
            example: example,
            body: .async(.waiting) { arguments, run in
                try run.demand(.native(space: space), for: full)
                return try await answer(
                    parameters.reduce(into: [:]) { values, parameter in values[parameter.name] = arguments.value(parameter.name) })
            })
    }
}
