import Crypto
import HTTPTypes
import HubWire
import PushCore

/// The lab of a server: everything under `/lab/sessions`, for whoever has its key. A server without a lab has none of these paths.
package struct LabRoutes: Sendable {
    /// A request whose sender has the key.
    package struct Call: Sendable {
        package let method: String
        /// The parts behind `/lab/sessions`, decoded.
        package let path: [String]
        package let query: RequestQuery
        /// Nil where there is none.
        package let body: JSON?
        /// Scheme, host and port that the client knows the server by.
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

    /// - Parameter key: to be sent as `Authorization: Bearer KEY`.
    package init(key: Secret, handle: @escaping Handling) {
        self.key = SHA256.hash(data: Array(key.reveal().utf8))
        self.handle = handle
    }

    static func covers(_ path: String) -> Bool { path == "/lab/sessions" || path.hasPrefix("/lab/sessions/") }

    /// Throws `lab.key` (401), `request.body` (400) and what the lab throws.
    func answer(_ request: WebRequest, isTrusted: Bool) async throws(PushError) -> WebAnswer {
        guard isTrusted || isKey(request.fields[.authorization]) else {
            throw PushError(
                "lab.key", "the request does not bring the key of the server's lab",
                hint: "send Authorization: Bearer KEY; pushhost serve --lab --reveal shows the key", status: 401)
        }
        let bytes = try await request.body.read(limit: Self.largestBody)
        let path = request.path.split(separator: "/").dropFirst(2).map { PercentEncoding.decode($0) }
        let answer = try await handle(
            Call(
                method: request.method.rawValue, path: path, query: request.query,
                body: bytes.isEmpty ? nil : try JSON(body: bytes, hint: "send a JSON object"),
                base: request.base))
        // Keys among others.
        return WebAnswer(
            HTTPResponse.Status(code: answer.status), "application/json", answer.json.serialized(), [.cacheControl: "no-store"])
    }

    /// Takes as long for a wrong key as for the right one.
    private func isKey(_ field: String?) -> Bool {
        let parts = (field ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
        return SHA256.hash(data: Array(parts[1].utf8)) == key
    }
}
