import HubWire
import NIOHTTP1
package import PushModel

/// Sends requests to the lab of a PushHost, with its key.
package struct LabClient: LabConnection {
    private let base: String
    private let key: Secret
    private let client: RemoteClient

    /// - Parameters:
    ///   - base: `http://localhost:8080`, without a trailing slash.
    ///   - client: Its requests must not count as the run's traffic, so that time can advance.
    package init(base: String, key: Secret, client: RemoteClient) {
        (self.base, self.key, self.client) = (base, key, client)
    }

    package func call(_ method: String, _ path: String, _ body: JSON?) async throws(PushError) -> JSON {
        // A repeated POST would execute a step twice.
        var request = RemoteRequest(HTTPMethod(rawValue: method), base + path, isRepeatable: method == "GET" || method == "DELETE")
        request.headers = ["Accept": "application/json, application/problem+json", "Authorization": "Bearer \(key.reveal())"]
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = body.serialized()
        }
        var client = client
        // Do not delay the end of a session with repeated attempts.
        if method == "DELETE", path.split(separator: "/").count == 3 { client.retry = .none }
        let answer = try await client.answer(request)
        guard !answer.body.isEmpty else { return .null }
        do {
            return try JSON(parsing: answer.body)
        } catch {
            throw PushError("lab.answer", "the response of the lab at \(base) is not JSON", hint: "check the address of the target")
        }
    }
}
