package import Lua

/// The Lua module that runs load, and its explanations of errors in scripts that use it.
package protocol FlowModule: Sendable {
    /// Names that the sandbox lacks, with what to use instead.
    var absentNames: [String: String] { get }

    /// The module for a run. Calls without an attached run belong to it.
    func module(for run: FlowRun) -> LuaModule

    /// The error with a hint from the source of the script, where it lacks one.
    func explained(_ error: LuaError, in script: FlowScript) -> LuaError
}
