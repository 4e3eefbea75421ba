import Bindings
import PushHub

/// The work of a server's plugins with its hubs: the calls that wait until the hubs have opened, and the timers.
struct PluginActivity: Sendable {
    let host: PluginHost
    let hubs: ServerHubs

    /// Lets plugins reach the hubs and starts their timers.
    func begin(_ namespace: Namespace) {
        hubs.open(namespace)
        host.startTimers()
    }

    /// Stops the timers. If the activity has not begun, calls that wait for the hubs fail. Call before the hubs stop.
    func stop() async {
        hubs.open(nil)
        await host.stopTimers()
    }
}
