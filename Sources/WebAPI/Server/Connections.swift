import HummingbirdCore
import NIOCore
import NIOSSL
import Synchronization

/// The open connections of all ports. Where there are as many as may be, the one that has been idle the longest makes room for
/// a new one: whoever holds many and says nothing keeps nobody out. Further ones than are just making room wait in the system:
/// taken without a limit, they would leave the process without files.
package final class Connections: Sendable {
    private struct Entry {
        let channel: any Channel
        /// Its place among those that are idle; nil while it has a request.
        var turn: Int?
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// Those that became idle, the first the longest ago. What stands here with an old turn has left meanwhile.
        var idle: [(turn: Int, id: ObjectIdentifier)] = []
        var first = 0
        var turn = 0
        /// Connections that hold a file, those among them that are on their way out.
        var held = 0
        /// The ports that are open, and whether one of them may be waiting until a connection has closed.
        var ports: [ObjectIdentifier: any Channel] = [:]
        var isAwaited = false

        mutating func rest(_ id: ObjectIdentifier) {
            turn += 1
            entries[id]?.turn = turn
            idle.append((turn, id))
            guard idle.count > 64, idle.count > 4 * entries.count else { return }
            idle = idle[first...].filter { entries[$0.id]?.turn == $0.turn }
            first = 0
        }

        mutating func longestIdle() -> Entry? {
            while first < idle.count {
                let (turn, id) = idle[first]
                first += 1
                if entries[id]?.turn == turn { return entries.removeValue(forKey: id) }
            }
            return nil
        }
    }

    /// Most connections that are on their way out, to make room or because there is none.
    private static let leaving = 8

    /// What waits for them.
    package let buffers: ClientBuffers
    private let limit: Int
    private let state = Mutex(State())

    package init(limit: Int, buffers: ClientBuffers = ClientBuffers()) {
        self.limit = min(limit, .max - Self.leaving)
        self.buffers = buffers
    }

    package var count: Int { state.withLock { $0.entries.count } }

    /// False where there is no room, because all others have requests.
    func open(_ channel: any Channel) -> Bool {
        let (isOpen, leaving) = state.withLock { state -> (Bool, (any Channel)?) in
            var leaving: (any Channel)?
            if state.entries.count >= limit {
                guard let entry = state.longestIdle() else { return (false, nil) }
                leaving = entry.channel
            }
            let id = ObjectIdentifier(channel)
            state.entries[id] = Entry(channel: channel)
            state.rest(id)
            return (true, leaving)
        }
        leaving?.closeAtOnce()
        return isOpen
    }

    func close(_ channel: any Channel) {
        state.withLock { _ = $0.entries.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    func busy(_ channel: any Channel) { state.withLock { $0.entries[ObjectIdentifier(channel)]?.turn = nil } }

    func idle(_ channel: any Channel) {
        state.withLock { state in
            if state.entries[ObjectIdentifier(channel)] != nil { state.rest(ObjectIdentifier(channel)) }
        }
    }

    // MARK: - Ports

    /// A port that is to go on taking connections when there is room again.
    func watch(_ port: any Channel) {
        state.withLock { $0.ports[ObjectIdentifier(port)] = port }
        port.closeFuture.whenComplete { _ in self.state.withLock { $0.ports[ObjectIdentifier(port)] = nil } }
        // It may have been refused before anybody knew whom to tell.
        port.read()
    }

    fileprivate func accepted() { state.withLock { $0.held += 1 } }

    fileprivate func released() {
        let ports = state.withLock { state -> [any Channel] in
            state.held -= 1
            guard state.isAwaited, state.held < limit + Self.leaving else { return [] }
            state.isAwaited = false
            return Array(state.ports.values)
        }
        // Later: the door of the port that tells this is in use until then.
        for port in ports { port.eventLoop.execute { port.read() } }
    }

    fileprivate var hasRoom: Bool {
        state.withLock { state in
            let hasRoom = state.held < limit + Self.leaving
            if !hasRoom { state.isAwaited = true }
            return hasRoom
        }
    }
}

/// What a port asks before it takes a connection: one limit holds for all ports.
struct PortDoor: AvailableConnectionsDelegate {
    let connections: Connections

    func connectionOpened() { connections.accepted() }
    func connectionClosed() { connections.released() }
    func isAcceptingNewConnections() -> Bool { connections.hasRoom }
}

extension Channel {
    /// Tells a client of TLS and does not wait for its answer, which may never come: meanwhile the connection would keep its file.
    fileprivate func closeAtOnce() {
        eventLoop.execute {
            self.close(promise: nil)
            try? self.pipeline.syncOperations.context(handlerType: NIOSSLHandler.self).close(promise: nil)
        }
    }
}
