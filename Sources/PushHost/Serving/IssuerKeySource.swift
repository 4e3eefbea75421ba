import Delivery
import FoundationEssentials
import Glibc
import HTTPTypes
import PushCore
import WebAPI

/// Where the keys of an issuer of tokens are.
enum IssuerKeySource: Sendable {
    case file(String)
    case address(WebAddress)

    /// Bytes of a document of keys.
    static let largestDocument = 1 << 20

    var isFile: Bool {
        if case .file = self { true } else { false }
    }

    /// Nil for an address over which anybody on the way could put keys of their own.
    init?(_ text: String) {
        guard text.contains("://") else {
            self = .file(text)
            return
        }
        guard let address = WebAddress(text) else { return nil }
        let isHere = address.host == "localhost" || IPAddress(address.host)?.isLoopback == true
        guard address.scheme == "https" || isHere else { return nil }
        self = .address(address)
    }

    /// - Parameter transport: for an address; whoever runs the server chose it, so that it may be on a network of theirs.
    func fetch(over transport: HTTPClientTransport) async throws(PushError) -> IssuerKeys.Document {
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
                throw PushError("auth.issuer", "\(address.authority) does not answer")
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
                throw PushError("auth.issuer", "\(path) is no file that can be read")
            }
            return Array(data)
        }
        return IssuerKeys.Document(bytes: bytes)
    }

    /// Looks at a file before a token comes; an address may be reached later. Throws `settings.invalid`.
    func checkFile() async throws(PushError) {
        guard case .file(let path) = self else { return }
        do throws(PushError) {
            _ = try await Self.read(path).count()
        } catch {
            throw PushError(
                "settings.invalid", "backend.jwt.keys: \"\(path)\" cannot be used: \(error.message)",
                hint: "name the file of the issuer's public keys (JWKS), or their https:// address")
        }
    }

    /// As the answer allows it to be kept (RFC 9111, section 5.2.2).
    static func maximumAge(_ headers: HTTPFields) -> Duration? {
        let directives = (headers[.cacheControl] ?? "").lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\"" } }
        if directives.contains("no-store") || directives.contains("no-cache") { return .zero }
        return directives.lazy.filter { $0.hasPrefix("max-age=") }.compactMap { Int64($0.dropFirst("max-age=".count)) }.first
            .map { .seconds(min($0, 86_400)) }
    }
}
