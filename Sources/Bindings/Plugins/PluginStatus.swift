package import Lua
package import PushModel

/// The status of a live plugin.
package struct PluginStatus: Sendable {
    package var plugin: LoadedPlugin
    package var calls: Int
    package var failures: Int
    /// Calls without a waiting caller that were dropped, because too many were in progress or the breaker was open.
    package var dropped: Int
    package var lastError: LuaError?
    /// Hooks whose breaker is open, with the end of the pause. `isDue`: the next call is a probe.
    package var open: [(hook: HookPhase, until: Timestamp, isDue: Bool)]

    /// The status of a plugin that has not been called.
    package init(unused plugin: LoadedPlugin) {
        self.plugin = plugin
        (calls, failures, dropped, open) = (0, 0, 0, [])
    }

    init(_ live: LivePlugin, now: Timestamp) {
        plugin = live.plugin
        let figures = live.slot.current
        (calls, failures, dropped, lastError) = (figures.calls, figures.failures, figures.dropped, figures.lastError)
        open = HookPhase.allCases.compactMap { phase in live.slot.breakers[phase]?.openUntil.map { (phase, $0, $0 <= now) } }
    }
}
