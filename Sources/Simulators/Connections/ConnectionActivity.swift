import NIOCore

/// Counts the requests in progress on a connection, so that a connection in use is not closed to make room for another. Confined to the
/// event loop of its channel.
final class ConnectionActivity {
    private let channel: any Channel
    private let connections: (any PortConnections)?
    private var requests = 0
    /// Whether there was a request.
    private(set) var hadRequest = false

    init(_ channel: any Channel, _ connections: (any PortConnections)?) {
        self.channel = channel
        self.connections = connections
    }

    /// A complete request is handed over. Must be paired with `end`, unless it is never answered.
    func begin() {
        hadRequest = true
        requests += 1
        if requests == 1 { connections?.busy(channel) }
    }

    func end() {
        requests -= 1
        if requests == 0 { connections?.idle(channel) }
    }
}
