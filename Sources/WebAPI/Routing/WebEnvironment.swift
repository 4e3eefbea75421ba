package import Logging
package import PushModel

/// The environment that a server gives to its web interface: time, randomness, the log, and the places where requests are handled.
package struct WebEnvironment: Sendable {
    let clock: any HubClock
    let random: any RandomSource
    /// The time since a fixed point, by a monotonic clock. It measures how long requests take, in microseconds.
    let uptime: @Sendable () -> Duration
    let log: Logger
    let executor: (any TaskExecutor)?

    /// - Parameters:
    ///   - uptime: The time since a fixed point, by a monotonic clock.
    ///   - executor: Where requests are handled. By default, quick ones run on the connection's loop and others on the global executor.
    package init(
        clock: any HubClock, random: any RandomSource, uptime: @escaping @Sendable () -> Duration, log: Logger,
        executor: (any TaskExecutor)? = nil
    ) {
        (self.clock, self.random, self.uptime, self.log, self.executor) = (clock, random, uptime, log, executor)
    }
}
