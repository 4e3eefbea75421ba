package import Lua
package import PushModel

/// An empty library, for hosts that run a single script.
package struct NoScripts: ScriptLibrary {
    package init() {}

    package func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript {
        throw PushError("script.not_found", "\(path) does not exist: no other scripts are available")
    }

    package func modules(of script: FlowScript) -> LuaSearchPath? { nil }
}
