import Synchronization

/// The accounts of bytes that wait for a server's clients: one for each connection, above it one for its address, above all one for the
/// server.
package final class ClientBuffers: Sendable {
    /// In bytes.
    package struct Limits: Sendable, Equatable {
        /// Of one connection. A further request over HTTP/2 waits.
        package var connection: Int
        /// Of all connections from one address; nil for no limit. Further requests are refused.
        package var address: Int?
        /// Of all clients together; nil for no limit. Further requests are refused.
        package var server: Int?

        package init(connection: Int = 4 << 20, address: Int? = 64 << 20, server: Int? = 256 << 20) {
            (self.connection, self.address, self.server) = (connection, address, server)
        }
    }

    private struct Address {
        /// Lives as long as one of its connections.
        weak var account: BufferAccount?
    }

    private struct State {
        var addresses: [String: Address] = [:]
        /// Beyond so many addresses, those without connections are removed.
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
    private let state = Mutex(State())

    /// - Parameter onRelief: called when most of a peak of memory was released, so that it can be given back to the system.
    package init(limits: Limits = Limits(), onRelief: (@Sendable () -> Void)? = nil) {
        self.limits = limits
        server = BufferAccount(limit: limits.server, onRelief: onRelief)
    }

    /// Bytes that wait for all clients together.
    package var bytes: Int { server.bytes }

    /// Requests and bodies that were refused since the start because too many bytes waited.
    package var refusals: Int { state.withLock { $0.refusals } }

    /// An account for a connection from that address.
    package func account(for address: String) -> BufferAccount {
        BufferAccount(limit: limits.connection, parent: state.withLock { $0.account(for: address, limits.address, below: server) })
    }

    func countRefusal() { state.withLock { $0.refusals += 1 } }
}
