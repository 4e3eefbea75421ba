/// Timeouts and limits of HTTP/2 connections to push services. The hub limits the batches that it passes to them: see
/// docs/explanation/delivery.md.
package struct HTTP2Limits: Sendable {
    /// Timeout for resolving and connecting, and again for the TLS handshake.
    package var connect: Duration = .seconds(10)
    /// Timeout for the response, measured from the start of the request.
    package var answer: Duration = .seconds(30)
    /// Time without any received data after which a PING is sent (RFC 9113, section 6.7).
    package var pingAfter: Duration = .seconds(60)
    /// Timeout for the response to the PING.
    package var pingTimeout: Duration = .seconds(10)
    /// Time without pushes after which a connection is closed.
    package var idle: Duration = .seconds(3_600)
    /// Time for pushes in flight at shutdown.
    package var drainTimeout: Duration = .seconds(5)
    /// Pause before the second connection attempt; doubles with each further one.
    package var shortestPause: Duration = .milliseconds(500)
    package var longestPause: Duration = .seconds(60)
    /// Longest pause before a connection attempt for which new pushes wait. During a longer one they fail at once as not sent.
    package var longestWait: Duration = .seconds(2)
    /// Maximum number of concurrent streams per connection, if the service allows as many. More than 500 bring no gain.
    package var streams = 500
    /// Maximum number of connections per origin.
    package var connections = 4
    /// Maximum number of pushes per origin that wait or are in flight; further sends are suspended.
    package var pushes = 20_000
    /// Maximum number of idle origins to remember, with their connections. Beyond it, the least recently used one is removed.
    package var idleOrigins = 1_000
    /// Time after which an origin without connections and pushes is forgotten.
    package var memory: Duration = .seconds(60)
    /// Maximum number of times that a push is given to a connection and comes back unsent.
    package var attempts = 32

    package init() {}

    /// Limits for origins that devices name: there may be thousands, most of them rarely used.
    package static var manyOrigins: HTTP2Limits {
        var limits = HTTP2Limits()
        (limits.idle, limits.idleOrigins) = (.seconds(300), 250)
        return limits
    }
}
