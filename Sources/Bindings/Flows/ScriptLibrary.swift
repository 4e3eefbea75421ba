import PushCore

/// Where `push.run` finds flows.
package protocol ScriptLibrary: Sendable {
    /// The script at a path that is relative to the folder of the script that asks for it. Throws `script.*`.
    func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript
}

/// A library without scripts, for hosts that run one script alone.
package struct NoScripts: ScriptLibrary {
    package init() {}

    package func script(at path: String, from script: FlowScript) throws(PushError) -> FlowScript {
        throw PushError("script.not_found", "\(path) does not exist: this host has no other scripts")
    }
}
