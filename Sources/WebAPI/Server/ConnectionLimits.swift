import HubWire

/// What a connection may take of the server before it is closed.
package struct ConnectionLimits: Sendable, Equatable {
    /// For what has begun, when the server ends.
    package static let grace: Duration = .seconds(20)

    /// Open connections of all ports together.
    package var connections: Int
    /// For the handshake and the first head, and for any later head from its first byte on.
    package var head: Duration
    /// For a body, from its head on.
    package var body: Duration
    /// Without a request, and without taking anything of an answer.
    package var idle: Duration
    /// For what a client still sends after the last answer of its connection. Where it were cut off at once, the answer could
    /// be lost with it (RFC 9112, section 9.6).
    package var linger: Duration = .seconds(2)
    /// Bytes of that.
    package var lingerBytes = 16 << 20
    /// Bytes that a request takes beside its body and its answer: its head, its stream and its task.
    static let requestBytes = 16 << 10

    package init(
        connections: Int = 8192, head: Duration = .seconds(15), body: Duration = .seconds(30), idle: Duration = .seconds(75)
    ) {
        self.connections = connections
        self.head = head
        self.body = body
        self.idle = idle
    }
}
