import Lua
import PushCore

/// Where `push.run` finds flows, and `require` modules.
package protocol ScriptLibrary: Sendable {
    /// The script at a path that is relative to the folder of the script that asks for it. Throws `script.*`.
    func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript

    /// Where the modules of a script are; nil when it has none but `push`.
    func modules(of script: FlowScript) -> LuaSearchPath?
}

/// A library without scripts, for hosts that run one script alone.
package struct NoScripts: ScriptLibrary {
    package init() {}

    package func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript {
        throw PushError("script.not_found", "\(path) does not exist: this host has no other scripts")
    }

    package func modules(of script: FlowScript) -> LuaSearchPath? { nil }
}
