/// Times and sizes of connections for pushes.
package struct HTTP2Limits: Sendable {
    /// For the name and the connection, and once more for TLS.
    package var connect: Duration = .seconds(10)
    /// From the moment that a request is given to a connection until its answer is there.
    package var answer: Duration = .seconds(30)
    /// A connection that nothing was heard of for so long is asked for a sign of life (PING, RFC 9113, section 6.7).
    package var silence: Duration = .seconds(60)
    /// How long it may take over that sign.
    package var signOfLife: Duration = .seconds(10)
    /// A connection without pushes for so long is closed.
    package var idle: Duration = .seconds(3_600)
    /// What is under way at the shutdown has so long.
    package var farewell: Duration = .seconds(5)
    /// Before the second attempt to connect; it doubles with each further one.
    package var shortestPause: Duration = .milliseconds(500)
    package var longestPause: Duration = .seconds(60)
    /// What is sent while the next attempt is further away than this is answered at once: not sent.
    package var patience: Duration = .seconds(2)
    /// Requests under way on a connection, where the service allows more. Beyond 500 nothing is gained.
    package var streams = 500
    /// To one origin.
    package var connections = 4
    /// Pushes to one origin that wait or are under way; who sends more is suspended.
    package var pushes = 20_000
    /// Origins that are remembered without anything to send to them, with their connections; beyond them the one that was used the
    /// longest ago is given up.
    package var idleOrigins = 1_000
    /// An origin without a connection and anything to send is forgotten after so long.
    package var memory: Duration = .seconds(60)
    /// So many times a push is given to a connection and comes back unsent.
    package var attempts = 32

    package init() {}

    /// For origins that devices name: there may be thousands, and of most one hears seldom.
    package static var manyOrigins: HTTP2Limits {
        var limits = HTTP2Limits()
        (limits.idle, limits.idleOrigins) = (.seconds(300), 250)
        return limits
    }
}
