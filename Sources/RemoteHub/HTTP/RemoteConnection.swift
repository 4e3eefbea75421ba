import AsyncHTTPClient
import FoundationEssentials
import Glibc
import NIOCore
import NIOHTTP1
import NIOSSL
import PushCore

/// Connections to another machine: HTTP/2 where it offers it over TLS, else HTTP/1.1. Redirects are answers as any other.
///
/// `shutdown()` must be awaited before the last reference goes.
package final class RemoteConnection: Sendable {
    private let http: HTTPClient
    private let timeout: TimeAmount

    /// Bytes of an answer.
    private static let largestAnswer = 64 << 20

    /// - Parameters:
    ///   - authority: a file in PEM of certificates that are trusted beside those of the system.
    ///   - connect: for the name, the connection and TLS.
    ///   - timeout: for the head of an answer, the connection included, and between two parts of its body.
    /// Throws `connection.authority`.
    package init(
        authority: String? = nil, connect: Duration = .seconds(10), timeout: Duration = .seconds(30)
    ) throws(PushError) {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(connect), read: TimeAmount(timeout)))
        // Who asks decides whether it is worth another try.
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
        PushError("connection.authority", message, hint: "--authority names the file of the certificate that clients trust")
    }

    package func shutdown() async { _ = await abandonable { [http] in try? await http.shutdown() } }

    /// One request and its answer, whatever its status. A task that is cancelled does not wait for a connection that is being made.
    /// - Parameter patience: for an answer that the other side holds back until there is something to tell.
    package func exchange(_ request: RemoteRequest, patience: Duration? = nil) async throws(ConnectionFailure) -> RemoteAnswer {
        let answer = await abandonable { [self] () async -> Result<RemoteAnswer, ConnectionFailure> in
            do throws(ConnectionFailure) {
                let answer = try await perform(request, patience)
                return .success(answer)
            } catch {
                return .failure(error)
            }
        }
        guard let answer else { throw .interrupted }
        return try answer.get()
    }

    private func perform(_ request: RemoteRequest, _ patience: Duration?) async throws(ConnectionFailure) -> RemoteAnswer {
        var message = HTTPClientRequest(url: request.url)
        message.method = request.method
        message.headers = request.headers
        if !request.body.isEmpty || [.POST, .PUT, .PATCH].contains(request.method) {
            message.body = .bytes(ByteBuffer(bytes: request.body))
        }
        do {
            let response = try await http.execute(message, timeout: patience.map { TimeAmount($0) } ?? timeout)
            let body = try await response.body.collect(upTo: Self.largestAnswer)
            return RemoteAnswer(status: Int(response.status.code), headers: response.headers, body: Array(body.readableBytesView))
        } catch {
            throw ConnectionFailure(error)
        }
    }
}
