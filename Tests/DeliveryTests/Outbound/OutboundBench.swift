import NIOCore
import NIOSSL
import PushModel
import Synchronization
import Testing

@testable import Delivery

/// The HTTP client of plugins with a few host names, on a clock that the test moves.
final class OutboundBench: Sendable {
    let clock = VirtualClock(now: Accounts.start)
    let client: PublicHTTPClient
    private let record: LookupRecord

    private final class LookupRecord: Sendable {
        let names = Mutex<[String]>([])
        /// Lookups of names that are never resolved wait for this.
        let never = Mutex<[AsyncStream<Void>.Continuation]>([])
    }

    /// - Parameter names: the addresses of names; `never` stands for a lookup that does not end.
    init(_ names: [String: [String]] = ["service.test": ["127.0.0.1"]], trust: TLSTrust = TLSTrust()) {
        let record = LookupRecord()
        let network = PublicNetwork(clock: clock) { name in
            record.names.withLock { $0.append(name) }
            let texts = names[name] ?? []
            if texts == ["never"] {
                let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
                record.never.withLock { $0.append(continuation) }
                for await _ in stream {}
            }
            return texts.compactMap { try? SocketAddress(ipAddress: $0, port: 0) }
        }
        self.record = record
        client = PublicHTTPClient(clock: clock, network: network, trust: trust)
    }

    /// The names that were looked up.
    var lookups: [String] { record.names.withLock { $0 } }

    /// Ends the lookups that do not end by themselves.
    func findNever() {
        for continuation in record.never.withLock({ $0 }) { continuation.finish() }
    }

    /// The permission to reach `hosts`, and `privateHosts` in private networks.
    static func reach(_ hosts: [String] = [], private privateHosts: [String] = []) throws -> OutboundAllowlist {
        OutboundAllowlist(
            hosts: try hosts.map { try #require(OutboundHost($0)) }, privateHosts: try privateHosts.map { try #require(OutboundHost($0)) })
    }

    /// Sends to hosts that may have addresses of this machine, unless `reach` says otherwise.
    func result(_ request: OutboundRequest, within reach: OutboundAllowlist? = nil) async -> Result<OutboundResponse, PushError> {
        do throws(PushError) {
            return .success(try await client.send(request, within: reach ?? request.ownReach))
        } catch {
            return .failure(error)
        }
    }

    /// The error of a request.
    func failure(_ request: OutboundRequest, within reach: OutboundAllowlist? = nil) async -> PushError? {
        switch await result(request, within: reach) {
        case .success(let answer):
            Issue.record("it answered \(answer.status)")
            return nil
        case .failure(let error): return error
        }
    }
}

extension OutboundRequest {
    /// The host and port of the URL, with any address.
    fileprivate var ownReach: OutboundAllowlist {
        OutboundAllowlist(privateHosts: WebAddress(url).flatMap { OutboundHost($0.authority) }.map { [$0] } ?? [])
    }
}

extension OutboundResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

extension TestIdentity {
    /// The TLS settings of a server with this certificate.
    var serverTLS: NIOSSLContext {
        get throws {
            try NIOSSLContext(
                configuration: .makeServerConfiguration(certificateChain: [.certificate(certificate)], privateKey: .privateKey(key)))
        }
    }
}
