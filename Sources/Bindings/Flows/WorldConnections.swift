package import PushModel

/// Connections that a world opens on this machine, so that a run behaves as it would elsewhere. A failure of the machine ends the run.
package protocol WorldConnections: Sendable {
    /// Sets the action for failures of the machine, which may be called on any thread; nil removes it.
    func onFailure(_ action: (@Sendable () -> Void)?)

    /// Returns the failure of the machine, if any, and clears it.
    func consumeFailure() -> PushError?

    /// Shortens the remaining time of requests under way. `permanently`: also of later requests.
    func shortenTimeouts(permanently: Bool)

    /// Closes all connections.
    func end() async
}
