import Logging
import PushModel

/// What a server gives to its web interface: time, randomness, the log, and where requests are handled.
package struct WebEnvironment: Sendable {
    let clock: any HubClock
    let random: any RandomSource
    let log: Logger
    let executor: (any TaskExecutor)?

    /// - Parameter executor: Where requests are handled. By default, quick ones run on the connection's loop and others on the global
    ///   executor.
    package init(clock: any HubClock, random: any RandomSource, log: Logger, executor: (any TaskExecutor)? = nil) {
        (self.clock, self.random, self.log, self.executor) = (clock, random, log, executor)
    }
}
