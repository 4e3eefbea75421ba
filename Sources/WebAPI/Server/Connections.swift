package import HummingbirdCore
package import NIOCore
import NIOSSL
import Synchronization

/// The open connections of all ports. When the limit is reached, a new connection replaces the one that has been idle the longest, so that
/// idle clients cannot lock out others. While several are being replaced, further ones wait in the system's queue: without a limit,
/// accepting them would use up the process's files.
package final class Connections: Sendable {
    private struct Entry {
        let channel: any Channel
        /// Its sequence number in the order in which connections became idle; nil while it has a request.
        var idleNumber: Int?
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// Idle connections in the order in which they became idle. An entry with an outdated sequence number is ignored.
        var idle: [(number: Int, id: ObjectIdentifier)] = []
        var first = 0
        /// The sequence number that was assigned last.
        var lastIdleNumber = 0
        /// Number of connections with an open file, including those that are closing.
        var openFiles = 0
        /// The open ports, and whether a port may be waiting for a connection to close.
        var ports: [ObjectIdentifier: any Channel] = [:]
        var isAwaited = false

        mutating func markIdle(_ id: ObjectIdentifier) {
            lastIdleNumber += 1
            entries[id]?.idleNumber = lastIdleNumber
            idle.append((lastIdleNumber, id))
            guard idle.count > 64, idle.count > 4 * entries.count else { return }
            idle = idle[first...].filter { entries[$0.id]?.idleNumber == $0.number }
            first = 0
        }

        mutating func longestIdle() -> Entry? {
            while first < idle.count {
                let (number, id) = idle[first]
                first += 1
                if entries[id]?.idleNumber == number { return entries.removeValue(forKey: id) }
            }
            return nil
        }
    }

    /// Maximum number of connections that are closing.
    private static let maximumClosing = 8

    /// The buffered bytes of the connections.
    package let buffers: ClientBuffers
    private let limit: Int
    private let state = Mutex(State())

    package init(limit: Int, buffers: ClientBuffers = ClientBuffers()) {
        self.limit = min(limit, .max - Self.maximumClosing)
        self.buffers = buffers
    }

    package var count: Int { state.withLock { $0.entries.count } }

    /// Adds a connection, which counts until it closes. Returns false if the limit is reached and no other connection is idle.
    package func open(_ channel: any Channel) -> Bool {
        let (isOpen, closing) = state.withLock { state -> (Bool, (any Channel)?) in
            var closing: (any Channel)?
            if state.entries.count >= limit {
                guard let entry = state.longestIdle() else { return (false, nil) }
                closing = entry.channel
            }
            let id = ObjectIdentifier(channel)
            state.entries[id] = Entry(channel: channel)
            state.markIdle(id)
            return (true, closing)
        }
        closing?.closeImmediately()
        if isOpen {
            buffers.countOpened()
            channel.closeFuture.whenComplete { [self] _ in
                buffers.countClosed()
                state.withLock { _ = $0.entries.removeValue(forKey: ObjectIdentifier(channel)) }
            }
        }
        return isOpen
    }

    /// The connection has a request, so that it is not closed to make room for another.
    package func busy(_ channel: any Channel) { state.withLock { $0.entries[ObjectIdentifier(channel)]?.idleNumber = nil } }

    /// The requests of the connection are answered.
    package func idle(_ channel: any Channel) {
        state.withLock { state in
            if state.entries[ObjectIdentifier(channel)] != nil { state.markIdle(ObjectIdentifier(channel)) }
        }
    }

    // MARK: - Ports

    /// Decides whether a port may accept a connection. All ports share one limit.
    package var acceptLimiter: any AvailableConnectionsDelegate { AcceptLimiter(connections: self) }

    /// Adds a port that resumes accepting when a connection closes.
    package func watch(_ port: any Channel) {
        state.withLock { $0.ports[ObjectIdentifier(port)] = port }
        port.closeFuture.whenComplete { _ in self.state.withLock { $0.ports[ObjectIdentifier(port)] = nil } }
        // The port may have been refused before it was registered here.
        port.read()
    }

    fileprivate func accepted() { state.withLock { $0.openFiles += 1 } }

    fileprivate func released() {
        let ports = state.withLock { state -> [any Channel] in
            state.openFiles -= 1
            guard state.isAwaited, state.openFiles < limit + Self.maximumClosing else { return [] }
            state.isAwaited = false
            return Array(state.ports.values)
        }
        // Not immediately: the calling port's delegate is still in use.
        for port in ports { port.eventLoop.execute { port.read() } }
    }

    fileprivate var canAccept: Bool {
        state.withLock { state in
            let canAccept = state.openFiles < limit + Self.maximumClosing
            if !canAccept { state.isAwaited = true }
            return canAccept
        }
    }
}

private struct AcceptLimiter: AvailableConnectionsDelegate {
    let connections: Connections

    func connectionOpened() { connections.accepted() }
    func connectionClosed() { connections.released() }
    func isAcceptingNewConnections() -> Bool { connections.canAccept }
}

extension Channel {
    /// Closes without waiting for the client's TLS close message, which may never arrive. Until then the file would stay open.
    fileprivate func closeImmediately() {
        eventLoop.execute {
            self.close(promise: nil)
            try? self.pipeline.syncOperations.context(handlerType: NIOSSLHandler.self).close(promise: nil)
        }
    }
}
