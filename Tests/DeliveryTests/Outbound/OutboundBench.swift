import NIOCore
import NIOSSL
import PushCore
import Synchronization
import Testing

@testable import Delivery

/// A client of plugins in a world of a few names, whose time goes when a test says so.
final class OutboundBench: Sendable {
    let clock = VirtualClock(now: Accounts.start)
    let client: PublicHTTPClient
    private let asked: Asked

    private final class Asked: Sendable {
        let names = Mutex<[String]>([])
        /// What the lookups of names wait for that are never found.
        let never = Mutex<[AsyncStream<Void>.Continuation]>([])
    }

    /// - Parameter names: the addresses of names; `never` stands for a name that is looked up for good.
    init(_ names: [String: [String]] = ["service.test": ["127.0.0.1"]], trust: TLSTrust = TLSTrust()) {
        let asked = Asked()
        let network = PublicNetwork { name in
            asked.names.withLock { $0.append(name) }
            let texts = names[name] ?? []
            if texts == ["never"] {
                let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
                asked.never.withLock { $0.append(continuation) }
                for await _ in stream {}
            }
            return texts.compactMap { try? SocketAddress(ipAddress: $0, port: 0) }
        }
        self.asked = asked
        client = PublicHTTPClient(clock: clock, network: network, trust: trust)
    }

    /// The names that were looked up.
    var lookups: [String] { asked.names.withLock { $0 } }

    /// Ends the lookups of names that are never found.
    func findNever() {
        for continuation in asked.never.withLock({ $0 }) { continuation.finish() }
    }

    /// Where `hosts` and `privateHosts` may be reached.
    static func reach(_ hosts: [String] = [], private privateHosts: [String] = []) throws -> OutboundReach {
        OutboundReach(
            hosts: try hosts.map { try #require(OutboundHost($0)) }, privateHosts: try privateHosts.map { try #require(OutboundHost($0)) })
    }

    /// Sends to hosts that may have addresses of this machine, unless `reach` says otherwise.
    func result(_ request: OutboundRequest, within reach: OutboundReach? = nil) async -> Result<OutboundAnswer, PushError> {
        do throws(PushError) {
            return .success(try await client.send(request, within: reach ?? request.ownReach))
        } catch {
            return .failure(error)
        }
    }

    /// The error that a request ends with.
    func failure(_ request: OutboundRequest, within reach: OutboundReach? = nil) async -> PushError? {
        switch await result(request, within: reach) {
        case .success(let answer):
            Issue.record("it answered \(answer.status)")
            return nil
        case .failure(let error): return error
        }
    }
}

extension OutboundRequest {
    /// The host of the URL and its port, with any address.
    fileprivate var ownReach: OutboundReach {
        OutboundReach(privateHosts: WebAddress(url).flatMap { OutboundHost($0.authority) }.map { [$0] } ?? [])
    }
}

extension OutboundAnswer {
    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

extension TestIdentity {
    /// What a server with this certificate needs.
    var serverTLS: NIOSSLContext {
        get throws {
            try NIOSSLContext(
                configuration: .makeServerConfiguration(certificateChain: [.certificate(certificate)], privateKey: .privateKey(key)))
        }
    }
}
