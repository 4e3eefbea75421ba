import AsyncHTTPClient
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import NIOSSL
package import PushModel

/// Connections to another machine: HTTP/2 if offered over TLS, otherwise HTTP/1.1. Redirects are returned like other responses.
///
/// Await `shutdown()` before releasing the last reference.
package final class RemoteConnection: Sendable {
    private let http: HTTPClient
    private let timeout: TimeAmount

    /// Maximum size of a response in bytes.
    private static let maximumResponseSize = 64 << 20

    /// - Parameters:
    ///   - authority: A PEM file of certificates to trust in addition to the system's.
    ///   - connect: Timeout for name resolution, connection and TLS.
    ///   - timeout: Timeout for the head of a response, including the connection, and between two parts of its body.
    /// Throws `connection.authority`.
    package init(
        authority: String? = nil, connect: Duration = .seconds(10), timeout: Duration = .seconds(30)
    ) throws(PushError) {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(connect), read: TimeAmount(timeout)))
        // The client decides about repeated attempts.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        if let authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            guard access(authority, R_OK) == 0, let file = FileManager.default.contents(atPath: authority) else {
                throw Self.authority("\(authority) cannot be read: \(String(cString: strerror(errno)))")
            }
            guard let certificates = try? NIOSSLCertificate.fromPEMBytes(PEMText.strict(Array(file))), !certificates.isEmpty else {
                throw Self.authority("\(authority) holds no certificate in PEM")
            }
            tls.additionalTrustRoots = [.certificates(certificates)]
            configuration.tlsConfiguration = tls
        }
        self.timeout = TimeAmount(timeout)
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    private static func authority(_ message: String) -> PushError {
        PushError("connection.authority", message, hint: "--authority must name a PEM file of certificates to trust")
    }

    package func shutdown() async { _ = await awaitUnlessCancelled { [http] in try? await http.shutdown() } }

    /// Sends one request and returns its response, whatever its status. A cancelled task does not wait for a connection in progress.
    /// - Parameter timeLimit: Timeout for a response that the other machine delays until it has an event to report.
    package func exchange(_ request: RemoteRequest, timeLimit: Duration? = nil) async throws(ConnectionFailure) -> RemoteAnswer {
        let answer = await awaitUnlessCancelled { [self] () async -> Result<RemoteAnswer, ConnectionFailure> in
            do throws(ConnectionFailure) {
                let answer = try await perform(request, timeLimit)
                return .success(answer)
            } catch {
                return .failure(error)
            }
        }
        guard let answer else { throw .interrupted }
        return try answer.get()
    }

    private func perform(_ request: RemoteRequest, _ timeLimit: Duration?) async throws(ConnectionFailure) -> RemoteAnswer {
        var message = HTTPClientRequest(url: request.url)
        message.method = request.method
        message.headers = request.headers
        if !request.body.isEmpty || [.POST, .PUT, .PATCH].contains(request.method) {
            message.body = .bytes(ByteBuffer(bytes: request.body))
        }
        do {
            let response = try await http.execute(message, timeout: timeLimit.map { TimeAmount($0) } ?? timeout)
            let body = try await response.body.collect(upTo: Self.maximumResponseSize)
            return RemoteAnswer(status: Int(response.status.code), headers: response.headers, body: Array(body.readableBytesView))
        } catch {
            throw ConnectionFailure(error)
        }
    }
}
