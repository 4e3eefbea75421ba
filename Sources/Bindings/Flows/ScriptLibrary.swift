import Lua
import PushCore

/// Where `push.run` finds flows, and `require` modules.
package protocol ScriptLibrary: Sendable {
    /// The script at a path that is relative to the folder of the script that asks for it. Throws `script.*`.
    func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript

    /// Where the modules of a script are; nil when it has none but `push`.
    func modules(of script: FlowScript) -> LuaSearchPath?

    /// The plugin that a spec is one of. Throws `plugin.not_found`.
    func plugin(of script: FlowScript) throws(PushError) -> PluginSource
}

extension ScriptLibrary {
    package func plugin(of script: FlowScript) throws(PushError) -> PluginSource {
        throw PushError(
            "plugin.not_found", "\(script.name) is no spec of a plugin", hint: "a plugin's specs lie in its folder, beside init.lua")
    }
}

/// A library without scripts, for hosts that run one script alone.
package struct NoScripts: ScriptLibrary {
    package init() {}

    package func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript {
        throw PushError("script.not_found", "\(path) does not exist: this host has no other scripts")
    }

    package func modules(of script: FlowScript) -> LuaSearchPath? { nil }
}
