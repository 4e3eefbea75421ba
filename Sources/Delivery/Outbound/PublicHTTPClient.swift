package import NIOCore
import NIOPosix
package import PushModel

/// Sends requests of plugins over HTTP/1.1 to permitted hosts.
///
/// Plugin, server and DNS may all try to reach services behind the firewall. Therefore:
/// - The host must be granted.
/// - Its name is resolved once, and all its addresses are checked. The connection goes to one of these.
/// - Every redirect is checked in the same way.
///
/// Every request has its own connection; size and duration of a response are limited.
package final class PublicHTTPClient: OutboundHTTP {
    /// Maximum number of concurrent requests; further ones wait within their timeout.
    static let maximumCalls = 64
    /// Maximum number of concurrent name lookups. A lookup cannot be stopped and continues after its caller is gone.
    static let maximumLookups = 16
    /// Maximum number of addresses of a name that are tried.
    static let maximumAddresses = 6

    private let clock: any HubClock
    private let network: PublicNetwork
    private let dialer: OutboundDialer
    private let calls = AdmissionGate(capacity: maximumCalls)
    private let lookups = AdmissionGate(capacity: maximumLookups)

    /// - Parameters:
    ///   - clock: Measures timeouts, with its steady clock.
    ///   - network: Rejects addresses that are not public; nil for one with the system's resolver.
    package init(
        clock: any HubClock, network: PublicNetwork? = nil, trust: TLSTrust = TLSTrust(),
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) {
        let network = network ?? PublicNetwork(clock: clock)
        self.clock = clock.steady
        self.network = network
        dialer = OutboundDialer(
            network: network, contexts: TLSContexts(trust: trust, protocols: ["http/1.1"]), clock: clock.steady, group: group)
    }

    private enum Event: Sendable {
        case over(Result<OutboundResponse, PushError>)
        case isDue
        case isCancelled
    }

    package func send(_ request: OutboundRequest, within reach: OutboundAllowlist) async throws(PushError) -> OutboundResponse {
        let message = try OutboundMessage(request)
        guard reach.permit(message) != nil else { throw .outboundDenied(message) }
        let deadline = clock.now + request.timeout
        let result = await withTaskGroup(of: Event.self) { group in
            group.addTask { [clock] in
                do { try await clock.sleep(until: deadline) } catch { return .isCancelled }
                return .isDue
            }
            group.addTask { [self] in
                do throws(PushError) {
                    return .over(.success(try await follow(message, request, reach, deadline)))
                } catch {
                    return .over(.failure(error))
                }
            }
            defer { group.cancelAll() }
            for await event in group {
                switch event {
                case .over(let result): return result
                case .isDue: return .failure(PushError.outboundTimeout(message.endpoint, request.timeout))
                // The other task then ends as well.
                case .isCancelled: break
                }
            }
            return .failure(.outboundCancelled(message.endpoint))
        }
        return try result.get()
    }

    /// Sends the request and follows redirects.
    private func follow(
        _ first: OutboundMessage, _ request: OutboundRequest, _ reach: OutboundAllowlist, _ deadline: Timestamp
    ) async throws(PushError) -> OutboundResponse {
        guard await calls.enter(1) else { throw .outboundCancelled(first.endpoint) }
        defer { calls.leave(1) }
        var message = first
        var redirects = 0
        while true {
            guard let permit = reach.permit(message) else { throw .outboundDenied(message) }
            let terms = OutboundDialer.Terms(
                permit: permit, deadline: deadline, maximumAnswer: request.maximumAnswer, followsRedirects: request.maximumRedirects > 0)
            let addresses = try await addresses(of: message, permit)
            let answer = try await dialer.exchange(message, at: addresses, terms)
            guard terms.followsRedirects, let location = answer.location else { return answer }
            guard redirects < request.maximumRedirects else {
                throw .outboundRedirect(
                    first.endpoint, "it was redirected more than \(request.maximumRedirects) times",
                    hint: "check whether the redirects form a loop")
            }
            redirects += 1
            message = try message.redirected(answer.status, to: location)
        }
    }

    /// Returns the addresses that a connection may be made to.
    private func addresses(of message: OutboundMessage, _ permit: OutboundAllowlist.Permit) async throws(PushError) -> [SocketAddress] {
        let host = message.address.host
        var addresses: [SocketAddress]
        if OutboundHost.isNumeric(host) {
            addresses = (try? SocketAddress(ipAddress: host, port: message.port)).map { [$0] } ?? []
        } else {
            guard let found = await lookUp(host) else { throw .outboundCancelled(message.endpoint) }
            addresses = found
        }
        // Check all of them: a name that mixes public and private addresses is not trusted.
        guard permit == .anyAddress || addresses.allSatisfy(\.isPublic) else { throw .outboundPrivate(message) }
        addresses = Array(addresses.prefix(Self.maximumAddresses))
        for index in addresses.indices { addresses[index].port = message.port }
        return addresses
    }

    /// Returns `nil` if the task is cancelled before the lookup ends.
    private func lookUp(_ host: String) async -> [SocketAddress]? {
        guard await lookups.enter(1) else { return nil }
        let (found, continuation) = AsyncStream.makeStream(of: [SocketAddress].self)
        Task { [network, lookups] in
            continuation.yield(await network.resolve(host))
            lookups.leave(1)
        }
        var iterator = found.makeAsyncIterator()
        return await iterator.next()
    }
}

extension OutboundAllowlist {
    fileprivate func permit(_ message: OutboundMessage) -> Permit? {
        permit(host: message.address.host, port: message.port, usualPort: message.usualPort)
    }
}
