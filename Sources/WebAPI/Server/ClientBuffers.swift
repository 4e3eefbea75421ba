import Synchronization

/// The buffer accounts of a server: one per connection, below one per client address, below one for the server.
///
/// Beyond a limit, ``RequestGuard`` answers 503 to a request, and ``BodyReader`` throws `request.busy` (503) for a body.
package final class ClientBuffers: Sendable {
    /// Limits in bytes.
    package struct Limits: Sendable, Equatable {
        /// Per connection. Further HTTP/2 requests wait.
        package var connection: Int
        /// Per client address; nil for no limit. Further requests are rejected.
        package var address: Int?
        /// For all clients together; nil for no limit. Further requests are rejected, and the largest connections are closed.
        package var server: Int?

        package init(connection: Int = 4 << 20, address: Int? = 64 << 20, server: Int? = 256 << 20) {
            (self.connection, self.address, self.server) = (connection, address, server)
        }
    }

    private struct Address {
        /// Lives as long as a connection from the address.
        weak var account: BufferAccount?
    }

    private struct State {
        var addresses: [String: Address] = [:]
        /// Number of addresses above which those without connections are removed.
        var sweepAt = 64
        var refusals = 0

        mutating func account(for address: String, _ limit: Int?, below server: BufferAccount) -> BufferAccount {
            if let known = addresses[address]?.account { return known }
            if addresses.count >= sweepAt {
                addresses = addresses.filter { $0.value.account != nil }
                sweepAt = max(64, 2 * addresses.count)
            }
            let account = BufferAccount(limit: limit, parent: server)
            addresses[address] = Address(account: account)
            return account
        }
    }

    package let limits: Limits
    private let server: BufferAccount
    /// Estimated memory of the open connections, which has no limit here: it shows when most of a peak has been released.
    private let connections: BufferAccount
    let eviction: ClientEviction
    private let state = Mutex(State())

    /// - Parameter onMemoryFreed: Called when most of a memory peak has been released, so that it can be returned to the system.
    package init(limits: Limits = Limits(), onMemoryFreed: (@Sendable () -> Void)? = nil) {
        self.limits = limits
        server = BufferAccount(limit: limits.server, onMemoryFreed: onMemoryFreed)
        connections = BufferAccount(limit: nil, onMemoryFreed: onMemoryFreed)
        eviction = ClientEviction(server: server)
    }

    /// Bytes buffered for all clients together.
    package var bytes: Int { server.bytes }

    /// Requests and bodies rejected since the start because too many bytes were buffered.
    package var refusals: Int { state.withLock { $0.refusals } }

    /// Connections closed since the start because they buffered the most while little was left for others.
    package var evictions: Int { eviction.count }

    /// Makes an account for a connection from that address.
    package func account(for address: String) -> BufferAccount {
        BufferAccount(limit: limits.connection, parent: state.withLock { $0.account(for: address, limits.address, below: server) })
    }

    /// Counts an open connection. Every call must be paired with ``countClosed()``.
    func countOpened() { try? connections.reserve(ConnectionLimits.connectionBytes) }

    func countClosed() { connections.release(ConnectionLimits.connectionBytes) }

    func countRefusal() { state.withLock { $0.refusals += 1 } }
}
