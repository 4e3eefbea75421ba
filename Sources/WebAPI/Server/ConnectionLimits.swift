import HubWire

/// Limits of a connection, beyond which it is closed.
package struct ConnectionLimits: Sendable, Equatable {
    /// Time for requests in progress when the server stops.
    package static let grace: Duration = .seconds(20)

    /// Maximum number of open connections, for all ports together.
    package var connections: Int
    /// Maximum time for the handshake and the first head, and for each later head from its first byte.
    package var head: Duration
    /// Maximum time for a body, counted from its head.
    package var body: Duration
    /// Maximum time without a request, or without reading a pending response.
    package var idle: Duration
    /// Time during which input after the last response is discarded. Closing at once could lose the response (RFC 9112, section 9.6).
    package var linger: Duration = .seconds(2)
    /// Maximum number of bytes discarded after the last response.
    package var lingerBytes = 16 << 20
    /// Estimated memory of a request in bytes, without head, body and response: its stream and its task.
    static let requestBytes = 16 << 10
    /// Estimated memory of an idle connection with TLS in bytes.
    static let connectionBytes = 48 << 10

    package init(
        connections: Int = 8192, head: Duration = .seconds(15), body: Duration = .seconds(30), idle: Duration = .seconds(75)
    ) {
        self.connections = connections
        self.head = head
        self.body = body
        self.idle = idle
    }
}
