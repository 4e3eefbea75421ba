package import Lua
package import PushModel

/// Finds flows for `push.run` and modules for `require`.
package protocol ScriptLibrary: Sendable {
    /// The script at a path relative to the folder of the requesting script. Throws `script.*`.
    func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript

    /// The search path for a script's modules; nil if only `push` is available.
    func modules(of script: FlowScript) -> LuaSearchPath?

    /// The plugin that a spec belongs to. Throws `plugin.not_found`.
    func plugin(of script: FlowScript) throws(PushError) -> PluginSource
}

extension ScriptLibrary {
    package func plugin(of script: FlowScript) throws(PushError) -> PluginSource {
        throw PushError(
            "plugin.not_found", "\(script.name) is not a spec of a plugin",
            hint: "put the specs of a plugin into its folder, beside init.lua")
    }
}
