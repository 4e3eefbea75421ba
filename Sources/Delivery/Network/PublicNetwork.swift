package import AsyncHTTPClient
import Dispatch
import Glibc
package import NIOCore
package import PushModel
import Synchronization

/// Restricts an HTTP client to public addresses: URLs come from devices, and a name may resolve to any address.
///
/// A name is resolved before anything is sent, and all its addresses must be public. Since it may resolve differently when connecting, the
/// connected address is checked again before a request is sent.
package final class PublicNetwork: Sendable {
    /// The name resolved, or the connection was made, to a non-public address.
    package struct Refusal: Error, CustomStringConvertible {
        package let description = "the name resolves to an address that is not public; set network.allow_private to allow it"
    }

    /// How long a checked name is not checked again.
    private static let period: Duration = .seconds(60)
    private static let maximumNames = 4096

    /// The checked names, with the time until which they are not checked again.
    private let names = Mutex<[String: Timestamp]>([:])
    private let clock: any HubClock
    /// Resolves a name; returns no addresses if that fails.
    let resolve: @Sendable (String) async -> [SocketAddress]

    /// - Parameters:
    ///   - clock: Tells, by its steady clock, when a name is checked again.
    ///   - resolve: Resolves a name; returns no addresses if that fails.
    package init(
        clock: any HubClock, resolve: @escaping @Sendable (String) async -> [SocketAddress] = PublicNetwork.systemAddresses
    ) {
        self.clock = clock.steady
        self.resolve = resolve
    }

    /// Makes a client with this configuration check every connection.
    package static func watch(_ configuration: inout HTTPClient.Configuration) {
        let check: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            guard !leadsOutside(channel) else { return channel.eventLoop.makeSucceededVoidFuture() }
            // The client drops a connection that fails here without closing it.
            channel.eventLoop.execute { channel.close(promise: nil) }
            return channel.eventLoop.makeFailedFuture(Refusal())
        }
        configuration.http1_1ConnectionDebugInitializer = check
        configuration.http2ConnectionDebugInitializer = check
    }

    /// Throws `Refusal` for a connection to a non-public address.
    func check(_ channel: any Channel) throws(Refusal) {
        if !Self.leadsOutside(channel) { throw Refusal() }
    }

    private static func leadsOutside(_ channel: any Channel) -> Bool { channel.remoteAddress?.isPublic == true }

    /// Throws `Refusal` if one of the host's addresses is not public. A name without addresses passes, because it leads nowhere.
    /// - Parameter host: A name or an IPv4 address.
    package func check(_ host: String) async throws(Refusal) {
        let now = clock.now
        if let until = names.withLock({ $0[host] }), now < until { return }
        let addresses = await resolve(host)
        guard addresses.allSatisfy(\.isPublic) else { throw Refusal() }
        guard !addresses.isEmpty else { return }
        names.withLock { names in
            if names.count >= Self.maximumNames { names = names.filter { now < $0.value } }
            if names.count < Self.maximumNames { names[host] = now + Self.period }
        }
    }

    /// Resolves a name with the system's resolver (getaddrinfo).
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
