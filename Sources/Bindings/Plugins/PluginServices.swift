import Lua
package import PushModel

/// Services that the host provides to plugins.
package struct PluginServices: Sendable {
    /// The environment of scripts. Its hub is used by calls that belong to no hub.
    package var world: FlowWorld
    /// The hub with a name; nil if there is none.
    package var hub: @Sendable (String) async -> (any HubGateway)?
    package var keyValues: any KeyValueSpaces
    package var http: any OutboundHTTP
    /// The clock for the time limits of calls.
    package var deadlines: any HubClock
    /// What the host reports about plugins.
    package var events: PluginEvents
    /// Starts work that is not awaited.
    package var start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>
    package var callTracker: PluginCallTracker?

    package init(
        world: FlowWorld, hub: @escaping @Sendable (String) async -> (any HubGateway)? = { _ in nil }, keyValues: any KeyValueSpaces,
        http: any OutboundHTTP, deadlines: (any HubClock)? = nil, events: PluginEvents = PluginEvents(),
        start: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never>, callTracker: PluginCallTracker? = nil
    ) {
        self.world = world
        self.hub = hub
        self.keyValues = keyValues
        self.http = http
        self.deadlines = deadlines ?? world.clock
        self.events = events
        self.start = start
        self.callTracker = callTracker
    }
}

/// Receives what a plugin host reports: messages, denials, freed memory.
package struct PluginEvents: Sendable {
    /// Receives messages of plugins and about their failures.
    package var log: @Sendable (PluginMessage) -> Void
    /// Called the first time a plugin uses a capability that it was not granted.
    package var onDenial: @Sendable (PluginDenial) -> Void
    /// Called after much memory was freed, which the process may return to the system.
    package var onMemoryFreed: @Sendable () -> Void

    package init(
        log: @escaping @Sendable (PluginMessage) -> Void = { _ in }, onDenial: @escaping @Sendable (PluginDenial) -> Void = { _ in },
        onMemoryFreed: @escaping @Sendable () -> Void = {}
    ) {
        self.log = log
        self.onDenial = onDenial
        self.onMemoryFreed = onMemoryFreed
    }
}

/// Tracks calls of plugins in progress. A lab waits for them before its clock advances.
package struct PluginCallTracker: Sendable {
    package var began: @Sendable () -> Void
    package var ended: @Sendable () -> Void
    /// The clock on which calls sleep. A sleeping call does not hold up the lab's clock.
    package var clock: any HubClock

    package init(began: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void, clock: any HubClock) {
        (self.began, self.ended, self.clock) = (began, ended, clock)
    }
}

extension PluginServices {
    /// The secret with a name as scripts see it; nil if there is none.
    func secret(named name: String, for script: FlowScript) -> LuaValue? {
        let found = try? world.secrets.secret(named: name, for: script)
        return found.flatMap { $0 }.map { .object(LuaObject(type: "secret", payload: $0)) }
    }
}

package struct PluginDenial: Sendable, Equatable {
    package var plugin: String
    package var version: String
    package var capability: Capability
    /// The called function.
    package var binding: String
}
