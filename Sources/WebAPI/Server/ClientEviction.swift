import NIOCore
import Synchronization

/// Closes connections while less than an eighth of the server's limit is left, so that clients that do not read cannot use up the memory
/// of all others: one after the other, each time the largest connection of the address that buffers the most.
///
/// Only sizes decide, not the time since a client last read: a client can feign activity, but not a small size.
final class ClientEviction: Sendable {
    private struct Client {
        let channel: any Channel
        /// The connection's account, below that of its address.
        let account: BufferAccount
    }

    private enum Phase: Equatable {
        case none
        case searching
        /// A connection is closing and has not released its bytes.
        case closing(ObjectIdentifier)
    }

    private struct State {
        var clients: [ObjectIdentifier: Client] = [:]
        var phase = Phase.none
        var count = 0
    }

    private let server: BufferAccount
    /// Maximum number of bytes of an address that is small: room is made for it whatever others buffer.
    private let small: Int
    private let state = Mutex(State())

    /// - Parameter server: The account of all clients.
    init(server: BufferAccount) {
        self.server = server
        small = server.limit / 1024
    }

    /// Connections closed since the start.
    var count: Int { state.withLock { $0.count } }

    /// Adds a connection, which may be closed to make room for others.
    func add(_ channel: any Channel, _ account: BufferAccount) {
        let id = ObjectIdentifier(channel)
        state.withLock { $0.clients[id] = Client(channel: channel, account: account) }
        channel.closeFuture.whenComplete { [self] _ in remove(id) }
    }

    /// Decides whether a connection may reserve bytes when little is left. If another address would still buffer more, or the requester's
    /// address is small, the reservation is allowed, and a connection of another address is closed. Otherwise the requester buffers the
    /// most itself, and is refused.
    func allows(_ bytes: Int, for account: BufferAccount) -> Bool {
        guard bytes > 0, isScarce(with: bytes) else { return true }
        let (sum, isTooMuch) = (account.parent?.bytes ?? 0).addingReportingOverflow(bytes)
        guard !isTooMuch else { return false }
        return evict(above: sum <= small ? 0 : sum, except: account.parent)
    }

    private func isScarce(with bytes: Int) -> Bool { bytes > server.limit - server.limit / 8 - server.bytes }

    /// A connection has closed and released its bytes.
    private func remove(_ id: ObjectIdentifier) {
        let wasEvicted = state.withLock { state in
            state.clients[id] = nil
            guard state.phase == .closing(id) else { return false }
            state.phase = .none
            return true
        }
        // Other connections may have reserved more in the meantime than this one has released.
        if wasEvicted, isScarce(with: 0) { _ = evict(above: small, except: nil) }
    }

    /// Closes a connection of another address that buffers more than this number of bytes, unless a connection is already being closed.
    /// Returns false if there is no such address.
    private func evict(above minimum: Int, except address: BufferAccount?) -> Bool {
        let clients = state.withLock { state -> [ObjectIdentifier: Client]? in
            guard state.phase == .none else { return nil }
            state.phase = .searching
            return state.clients
        }
        guard let clients else { return true }
        let victim = largest(of: clients, above: minimum, except: address)
        let isOpen = state.withLock { state in
            // The connection may have closed during the search.
            guard let victim, state.clients[victim] != nil else {
                state.phase = .none
                return false
            }
            state.phase = .closing(victim)
            state.count += 1
            return true
        }
        if isOpen, let victim { clients[victim]?.channel.closeUnsent() }
        return victim != nil
    }

    /// The largest connection of the address that buffers the most; nil if no address buffers more than the minimum.
    private func largest(
        of clients: [ObjectIdentifier: Client], above minimum: Int, except address: BufferAccount?
    ) -> ObjectIdentifier? {
        var largest: (id: ObjectIdentifier, sizes: (address: Int, connection: Int))?
        for (id, client) in clients {
            guard let other = client.account.parent, other !== address else { continue }
            let size = other.bytes
            guard size > minimum, size >= largest?.sizes.address ?? 0 else { continue }
            let sizes = (address: size, connection: client.account.bytes)
            if sizes.connection > 0, largest.map({ sizes > $0.sizes }) ?? true { largest = (id, sizes) }
        }
        return largest?.id
    }
}

extension Channel {
    /// Closes without sending what is pending: a client that does not read would delay that, and the TLS close message.
    fileprivate func closeUnsent() {
        eventLoop.execute {
            try? self.pipeline.syncOperations.context(handlerType: ConnectionGuard.self).close(promise: nil)
        }
    }
}
