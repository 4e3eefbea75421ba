import Crypto
import HTTPTypes
import HubWire
package import PushModel

/// The lab of a server: everything below `/lab/sessions`, for clients with its key. A server without a lab has none of these paths.
package struct LabRoutes: Sendable {
    /// An authenticated request.
    package struct Call: Sendable {
        package let method: String
        /// The decoded segments after `/lab/sessions`.
        package let path: [String]
        package let query: RequestQuery
        /// Nil if the request has no body.
        package let body: JSON?
        /// Scheme, host and port of the server as the client knows it.
        package let base: String
    }

    package struct Answer: Sendable {
        package var status: Int
        package var json: JSON

        package init(_ status: Int, _ json: JSON) {
            self.status = status
            self.json = json
        }
    }

    package typealias Handling = @Sendable (Call) async throws(PushError) -> Answer

    private let key: SHA256Digest
    private let handle: Handling
    private static let largestBody = 2 << 20

    /// - Parameter key: Expected as `Authorization: Bearer KEY`.
    package init(key: Secret, handle: @escaping Handling) {
        self.key = SHA256.hash(data: Array(key.reveal().utf8))
        self.handle = handle
    }

    static func covers(_ path: String) -> Bool { path == "/lab/sessions" || path.hasPrefix("/lab/sessions/") }

    /// Throws `lab.key` (401), `request.body` (400) and the lab's errors.
    func answer(_ request: WebRequest, isTrusted: Bool) async throws(PushError) -> WebAnswer {
        guard isTrusted || isKey(request.fields[.authorization]) else {
            throw PushError(
                "lab.key", "the request does not have the key of the server's lab",
                hint: "send Authorization: Bearer KEY; pushhost serve --lab --reveal shows the key", status: 401)
        }
        let bytes = try await request.body.read(limit: Self.largestBody)
        let path = request.path.split(separator: "/").dropFirst(2).map { PercentEncoding.decode($0) }
        let answer = try await handle(
            Call(
                method: request.method.rawValue, path: path, query: request.query,
                body: bytes.isEmpty ? nil : try JSON(body: bytes, hint: "send a JSON object"),
                base: request.server.base))
        // Responses may contain keys.
        return WebAnswer(
            HTTPResponse.Status(code: answer.status), "application/json", answer.json.serialized(), [.cacheControl: "no-store"])
    }

    /// Compares in constant time.
    private func isKey(_ field: String?) -> Bool {
        let parts = (field ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
        return SHA256.hash(data: Array(parts[1].utf8)) == key
    }
}
