import NIOHTTP1
package import PushModel

/// The public description of a PushHost: `GET /api/v1/about`.
package struct ServerDescription: Sendable, Equatable {
    package var version: String
    /// Whether it has simulated phones, which its key gives access to.
    package var hasLab: Bool

    package init(version: String, hasLab: Bool) {
        self.version = version
        self.hasLab = hasLab
    }

    package static let path = "/api/v1/about"
    private static let product = "PushHost"

    package var json: JSON { ["product": .string(Self.product), "version": .string(version), "lab": .bool(hasLab)] }

    /// Requests the description; nil if the machine is not a PushHost.
    ///
    /// - Parameter base: `http://localhost:8080`, without a trailing slash.
    /// Throws `target.unreachable` or `target.timeout` if nothing responds.
    package static func of(_ base: String, _ client: RemoteClient) async throws(PushError) -> ServerDescription? {
        let answer: RemoteAnswer
        do throws(PushError) {
            answer = try await client.answer(RemoteRequest(.GET, base + path, headers: ["Accept": "application/json"]))
        } catch  where error.status.map({ $0 < 500 }) == true && error.status != 429 {
            return nil
        }
        guard let json = try? JSON(parsing: answer.body), json["product"]?.string == product else { return nil }
        return ServerDescription(version: json["version"]?.string ?? "", hasLab: json["lab"]?.bool ?? false)
    }
}
