package import Lua
package import PushModel

/// Activates plugins under test in a world, and finds their routes.
package protocol PluginTestHost: PluginRouting {
    /// Loads a plugin and makes it live, in place of another version of it. Throws `plugin.*` and errors of the script.
    func activate(_ source: PluginSource, _ trial: PluginTrial) async throws(LuaError)
}
