package import Delivery
import FoundationEssentials
import Glibc
import HTTPTypes
package import PushModel
import PushRuntime
package import WebAPI

/// The location of a token issuer's public keys.
package enum IssuerKeySource: Sendable {
    case file(String)
    case address(WebAddress)

    /// Maximum size of a key document in bytes.
    package static let largestDocument = 1 << 20

    package var isFile: Bool {
        if case .file = self { true } else { false }
    }

    /// Nil for an http:// address of another machine, because keys could be replaced in transit.
    package init?(_ text: String) {
        guard text.contains("://") else {
            self = .file(text)
            return
        }
        guard let address = WebAddress(text) else { return nil }
        let isHere = address.host == "localhost" || IPAddress(address.host)?.isLoopback == true
        guard address.scheme == "https" || isHere else { return nil }
        self = .address(address)
    }

    /// Reads or fetches the keys.
    ///
    /// - Parameter transport: used for an address. The operator chose the address, so it may be private.
    package func fetch(over transport: HTTPClientTransport) async throws(PushError) -> IssuerKeys.Document {
        switch self {
        case .file(let path):
            return try await Self.read(path)
        case .address(let address):
            let answer: PushResponse
            do {
                let request = HTTPRequest(
                    method: .get, scheme: address.scheme, authority: address.authority, path: address.path,
                    headerFields: [.accept: "application/jwk-set+json, application/json"])
                answer = try await transport.exchange(request, body: [])
            } catch {
                throw PushError("auth.issuer", "\(address.authority) does not respond")
            }
            guard answer.status == .ok else {
                throw PushError("auth.issuer", "\(address.authority) answers \(answer.status.code)")
            }
            return IssuerKeys.Document(bytes: answer.body, maximumAge: Self.maximumAge(answer.headers))
        }
    }

    private static func read(_ path: String) async throws(PushError) -> IssuerKeys.Document {
        let bytes = try await blocking { () throws(PushError) in
            guard access(path, R_OK) == 0 else {
                throw PushError("auth.issuer", "the file \(path) cannot be read: \(String(cString: strerror(errno)).asClause)")
            }
            guard let data = try? Data(contentsOf: URL(filePath: path)) else {
                throw PushError("auth.issuer", "cannot read the file \(path)")
            }
            return Array(data)
        }
        return IssuerKeys.Document(bytes: bytes)
    }

    /// Checks at server start that a key file is readable. An address may become reachable later and is not checked. Throws
    /// `settings.invalid`.
    func checkFile() async throws(PushError) {
        guard case .file(let path) = self else { return }
        do throws(PushError) {
            _ = try await Self.read(path).count()
        } catch {
            throw PushError(
                "settings.invalid", "backend.jwt.keys: \"\(path)\" cannot be used: \(error.message)",
                hint: "set the file of the issuer's public keys (JWKS) or their https:// address")
        }
    }

    /// The maximum age from the response's `Cache-Control` (RFC 9111, section 5.2.2), limited to a day.
    static func maximumAge(_ headers: HTTPFields) -> Duration? {
        let directives = (headers[.cacheControl] ?? "").lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\"" } }
        if directives.contains("no-store") || directives.contains("no-cache") { return .zero }
        return directives.lazy.filter { $0.hasPrefix("max-age=") }.compactMap { Int64($0.dropFirst("max-age=".count)) }.first
            .map { .seconds(min($0, 86_400)) }
    }
}
