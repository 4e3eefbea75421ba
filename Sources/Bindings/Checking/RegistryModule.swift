package import Lua

// Runs load the functions of the registry, and the checker explains errors in their scripts.
extension BindingRegistry: FlowModule {
    package var absentNames: [String: String] { HostFunctions.absent }

    package func module(for run: FlowRun) -> LuaModule { PushModule.module(of: self, for: run) }

    package func explained(_ error: LuaError, in script: FlowScript) -> LuaError { ErrorExplainer(self).explained(error, by: script) }
}
