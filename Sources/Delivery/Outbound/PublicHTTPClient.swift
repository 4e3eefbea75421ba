import NIOCore
import NIOPosix
import PushCore

/// Sends requests of plugins over HTTP/1.1 to where they may go.
///
/// Who writes the script, who answers, and who answers for the name may all want to reach what lies behind the firewall. So a host must
/// be granted, a name is looked up once and all its addresses are looked at, the connection goes to one of these, and all of that is done
/// again for every redirect. A request has a connection of its own; what an answer says is bounded in size and time.
package final class PublicHTTPClient: OutboundHTTP {
    /// Under way at a time; further ones wait, within their time.
    static let maximumCalls = 64
    /// Names that are looked up at a time. What looks them up cannot be stopped, and goes on when its caller has left.
    static let maximumLookups = 16
    /// Of a name that are tried.
    static let maximumAddresses = 6

    private let clock: any HubClock
    private let network: PublicNetwork
    private let dialer: OutboundDialer
    private let calls = AdmissionGate(capacity: maximumCalls)
    private let lookups = AdmissionGate(capacity: maximumLookups)

    /// - Parameter clock: for the time that a request may take, measured by its steady one.
    package init(
        clock: any HubClock, network: PublicNetwork = PublicNetwork(), trust: TLSTrust = TLSTrust(),
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) {
        self.clock = clock.steady
        self.network = network
        dialer = OutboundDialer(
            network: network, contexts: TLSContexts(trust: trust, protocols: ["http/1.1"]), clock: clock.steady, group: group)
    }

    private enum Event: Sendable {
        case over(Result<OutboundAnswer, PushError>)
        case isDue
        case isCancelled
    }

    package func send(_ request: OutboundRequest, within reach: OutboundReach) async throws(PushError) -> OutboundAnswer {
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
                case .isDue: return .failure(PushError.outboundTimeout(message.place, request.timeout))
                // Then the other one ends as well.
                case .isCancelled: break
                }
            }
            return .failure(.outboundCancelled(message.place))
        }
        return try result.get()
    }

    /// Sends the request, and those that redirects ask for.
    private func follow(
        _ first: OutboundMessage, _ request: OutboundRequest, _ reach: OutboundReach, _ deadline: Timestamp
    ) async throws(PushError) -> OutboundAnswer {
        guard await calls.enter(1) else { throw .outboundCancelled(first.place) }
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
                    first.place, "it was redirected more than \(request.maximumRedirects) times", hint: "look whether they go in a circle")
            }
            redirects += 1
            message = try message.redirected(answer.status, to: location)
        }
    }

    /// Those that a connection may be made to.
    private func addresses(of message: OutboundMessage, _ permit: OutboundReach.Permit) async throws(PushError) -> [SocketAddress] {
        let host = message.address.host
        var addresses: [SocketAddress]
        if OutboundHost.isNumeric(host) {
            addresses = (try? SocketAddress(ipAddress: host, port: message.port)).map { [$0] } ?? []
        } else {
            guard let found = await lookUp(host) else { throw .outboundCancelled(message.place) }
            addresses = found
        }
        // All of them: a name that mixes its own with those of others means no good.
        guard permit == .anyAddress || addresses.allSatisfy(\.isPublic) else { throw .outboundPrivate(message) }
        addresses = Array(addresses.prefix(Self.maximumAddresses))
        for index in addresses.indices { addresses[index].port = message.port }
        return addresses
    }

    /// Nil when the task is cancelled before the name has been looked up.
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

extension OutboundReach {
    fileprivate func permit(_ message: OutboundMessage) -> Permit? {
        permit(host: message.address.host, port: message.port, usualPort: message.usualPort)
    }
}
