import HTTPTypes
import HubWire
import NIOCore
import PushModel

/// A request in the form that routes use: its head, and a body that is read only after authorization.
struct WebRequest: Sendable {
    /// The server as the client addressed it.
    struct Server: Sendable {
        /// Scheme, host and port as the client knows them, such as `https://push.example:8443`.
        let base: String
        /// Host and port as sent by the client.
        let authority: String
    }

    struct Client: Sendable {
        /// An IPv4 address, the /64 network of an IPv6 address, or "local" for a Unix domain socket.
        var address = "local"
        var presence = ClientPresence.lasting
    }

    /// The server's notes about the receipt of a request.
    struct Receipt: Sendable {
        /// The client's tracking id or a generated one. It is in every response and in the log.
        let trackingID: String
        let time: Timestamp
        /// The revision of the namespace before authorization.
        var revision = -1
    }

    var method: HTTPRequest.Method
    let server: Server
    /// The encoded path, without the query.
    var path: String
    let query: RequestQuery
    let fields: HTTPFields
    let body: RequestBody
    let receipt: Receipt
    var client = Client()

    var now: Timestamp { receipt.time }
    var trackingID: String { receipt.trackingID }

    /// The API version to repeat in responses, because clients compare it with their own.
    var apiVersion: String { query["api-version"].flatMap { $0.isEmpty ? nil : $0 } ?? "2020-06" }

    /// An absolute address on this server. `path` must be encoded and begin with a slash.
    func address(_ path: String, _ flags: String = "") -> String {
        "\(server.base)\(path)?api-version=\(PercentEncoding.encode(apiVersion))\(flags)"
    }

    /// The path as sent, without trailing slashes and with repeated ones joined.
    var trimmedPath: String { path.split(separator: "/").map { "/\($0)" }.joined() }

    /// The requested address with its whole query, which identifies a list.
    var ownAddress: String {
        let path = trimmedPath.isEmpty ? "/" : trimmedPath
        return query.text.isEmpty ? address(path) : "\(server.base)\(path)?\(query.text)"
    }
}

/// The response of a route.
struct WebAnswer: Sendable {
    var status: HTTPResponse.Status
    var fields: HTTPFields
    var body: [UInt8]
    /// A body shared by many responses, used instead of `body` to save memory.
    var shared: ByteBuffer?

    init(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    init(_ status: HTTPResponse.Status, _ contentType: String, _ body: [UInt8], _ fields: HTTPFields = [:]) {
        self.init(status, fields, body: body)
        self.fields[.contentType] = contentType
    }

    init(_ status: HTTPResponse.Status, _ contentType: String, shared: ByteBuffer) {
        self.init(status, contentType, [])
        self.shared = shared
    }
}

extension HTTPField.Name {
    // The names are valid tokens, so none of these initializers fails.
    static let trackingID = HTTPField.Name("TrackingId") ?? .server
    static let correlationID = HTTPField.Name("x-ms-correlation-request-id") ?? .server
    /// The continuation token of a list. Its value contains only characters that are safe in URLs, because some clients do not encode it.
    static let continuation = HTTPField.Name("x-ms-continuationtoken") ?? .server
    static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .server
    static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed") ?? .server
}

extension PushError {
    /// The error `request.method` (405) for a method that the resource does not allow.
    ///
    /// - Parameter methods: the allowed methods, separated by commas.
    static func notAllowed(_ request: WebRequest, _ methods: String) -> PushError {
        PushError(
            "request.method", "the method \(request.method.rawValue) is not allowed here", hint: "use \(methods)", status: 405,
            details: ["allow": .string(methods.replacing("GET", with: "GET, HEAD"))])
    }
}
