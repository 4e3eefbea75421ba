import AsyncHTTPClient
import Dispatch
import Glibc
import NIOCore
import Synchronization

/// Keeps a client of HTTP on the public Internet: addresses come from devices, and a name may lead anywhere.
///
/// A name is resolved before anything is sent, and all of its addresses must be public. What it leads to may change until the
/// connection stands, so the address that was connected to is looked at again before a request goes over it.
package final class PublicNetwork: Sendable {
    /// The name, or the connection, leads to an address that is not public.
    package struct Refusal: Error, CustomStringConvertible {
        package let description = "the name leads to an address that is not public; set network.allow_private if it shall"
    }

    /// For how long a name that was looked at is not looked at again.
    private static let period: Duration = .seconds(60)
    private static let maximumNames = 4096

    private let names = Mutex<[String: ContinuousClock.Instant]>([:])
    /// All addresses of a name; none where there are none.
    let resolve: @Sendable (String) async -> [SocketAddress]

    /// - Parameter resolve: all addresses of a name; none where there are none.
    package init(resolve: @escaping @Sendable (String) async -> [SocketAddress] = PublicNetwork.systemAddresses) {
        self.resolve = resolve
    }

    /// Looks at every connection that a client with this configuration makes.
    package static func watch(_ configuration: inout HTTPClient.Configuration) {
        let check: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            guard !leadsOutside(channel) else { return channel.eventLoop.makeSucceededVoidFuture() }
            // The client forgets a connection that fails here, and does not close it.
            channel.eventLoop.execute { channel.close(promise: nil) }
            return channel.eventLoop.makeFailedFuture(Refusal())
        }
        configuration.http1_1ConnectionDebugInitializer = check
        configuration.http2ConnectionDebugInitializer = check
    }

    /// Throws `Refusal` for a connection to an address that is not public.
    func check(_ channel: any Channel) throws(Refusal) {
        if !Self.leadsOutside(channel) { throw Refusal() }
    }

    private static func leadsOutside(_ channel: any Channel) -> Bool { channel.remoteAddress?.isPublic == true }

    /// Throws `Refusal` for a name of which one address is not public. One without addresses passes: it leads nowhere.
    /// - Parameter host: a name or an IPv4 address.
    package func check(_ host: String) async throws(Refusal) {
        let now = ContinuousClock.now
        if let until = names.withLock({ $0[host] }), now < until { return }
        let addresses = await resolve(host)
        guard addresses.allSatisfy(\.isPublic) else { throw Refusal() }
        guard !addresses.isEmpty else { return }
        names.withLock { names in
            if names.count >= Self.maximumNames { names = names.filter { now < $0.value } }
            if names.count < Self.maximumNames { names[host] = now + Self.period }
        }
    }

    /// As the system resolves it (getaddrinfo).
    @Sendable package static func systemAddresses(_ host: String) async -> [SocketAddress] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: resolved(host)) }
        }
    }

    private static func resolved(_ host: String) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            if let address = entry.ai_addr {
                switch entry.ai_family {
                case AF_INET:
                    addresses.append(SocketAddress(UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)))
                case AF_INET6:
                    addresses.append(SocketAddress(UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self)))
                default: break
                }
            }
            next = entry.ai_next
        }
        return addresses
    }
}
