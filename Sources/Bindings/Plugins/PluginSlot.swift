import Lua
import PushModel
import Synchronization

/// State of a plugin that persists across versions.
final class PluginSlot: Sendable {
    let breakers = Dictionary(uniqueKeysWithValues: HookPhase.allCases.map { ($0, HookCircuitBreaker()) })
    let isRecreating = Atomic(false)
    private let revived = Mutex<Timestamp?>(nil)
    /// Number of calls in progress that are not awaited.
    let unawaitedCalls = Atomic(0)
    /// Number of route requests in progress.
    let routes = Atomic(0)
    private let counters = Mutex(Counters())

    struct Counters: Sendable {
        var calls = 0
        var failures = 0
        var dropped = 0
        /// Dropped calls for which too many calls were in progress.
        var behind = 0
        var lastError: LuaError?
    }

    /// Minimum time between recreations: code that exhausts a state at once would do so again.
    private static let recreationInterval = Duration.seconds(30)

    func mayRecreate(_ now: Timestamp) -> Bool {
        revived.withLock { last in
            if let last, now < last + Self.recreationInterval { return false }
            last = now
            return true
        }
    }

    var current: Counters { counters.withLock { $0 } }

    /// Adds to the figures. Returns the number of calls dropped because too many were in progress.
    @discardableResult
    func count(calls: Int = 0, failures: Int = 0, dropped: Int = 0, behind: Int = 0, last error: LuaError? = nil) -> Int {
        counters.withLock { counters in
            counters.calls += calls
            counters.failures += failures
            counters.dropped += dropped + behind
            counters.behind += behind
            if let error { counters.lastError = error }
            return counters.behind
        }
    }
}

/// A live plugin.
struct LivePlugin: Sendable {
    let slot: PluginSlot
    var plugin: LoadedPlugin
    /// Identity of the installed instance, if this one recreated it. Not the instance itself, so that its memory is freed.
    var insteadOf: PluginInstance.Identity?
}

extension LivePlugin {
    /// Error details that identify the plugin.
    var details: [String: JSON] { ["plugin": .string(plugin.name), "version": .string(plugin.source.version)] }
}

/// A hook to be called.
struct CalledHook: Sendable {
    enum Body: Sendable {
        case script(PluginInstance, PluginManifest.Work)
        case native(NativeInstance)
    }

    let live: LivePlugin
    let policy: PluginManifest.Hook.Policy
    let body: Body

    var name: String { live.plugin.name }
}
