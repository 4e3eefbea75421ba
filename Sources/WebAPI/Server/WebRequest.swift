import HTTPTypes
import HubWire
import NIOCore
import PushCore

/// A request as routes see it: its head, and a way to its body, which is read when the caller has proved who it is.
struct WebRequest: Sendable {
    var method: HTTPRequest.Method
    /// Scheme, host and port that the client knows the server by, such as `https://push.example:8443`.
    let base: String
    /// Host and port as the client wrote them.
    let authority: String
    /// Still encoded, without the query.
    var path: String
    let query: RequestQuery
    let fields: HTTPFields
    /// The client's own, or one made for it; in every answer and in the log.
    let trackingID: String
    let now: Timestamp
    let body: RequestBody
    /// Where it comes from: an IPv4 address, or the network of an IPv6 address, of which one client has all; "local" for a socket of
    /// this machine.
    var address = "local"
    var client = ClientPresence.lasting
    /// Of the namespace, before it was asked whether the request is allowed.
    var revision = -1

    /// What answers repeat, so that clients that look for their own spelling find it.
    var apiVersion: String { query["api-version"].flatMap { $0.isEmpty ? nil : $0 } ?? "2020-06" }

    /// An absolute address on this server; `path` begins with a slash and is encoded.
    func address(_ path: String, _ flags: String = "") -> String {
        "\(base)\(path)?api-version=\(PercentEncoding.encode(apiVersion))\(flags)"
    }

    /// The path as it was written, without slashes at its end and with one where there are several.
    var trimmedPath: String { path.split(separator: "/").map { "/\($0)" }.joined() }

    /// The address that was asked for, with the whole of its query: what lists are known by.
    var ownAddress: String {
        let path = trimmedPath.isEmpty ? "/" : trimmedPath
        return query.text.isEmpty ? address(path) : "\(base)\(path)?\(query.text)"
    }
}

/// A body that has not been read yet.
struct RequestBody: Sendable {
    private let collect: @Sendable (Int) async throws(PushError) -> [UInt8]

    init(_ collect: @escaping @Sendable (Int) async throws(PushError) -> [UInt8]) { self.collect = collect }

    /// All of it. Throws `request.too_large` (413) beyond `limit` bytes and `request.too_slow` (408).
    func read(limit: Int) async throws(PushError) -> [UInt8] { try await collect(limit) }
}

/// What goes back.
struct WebAnswer: Sendable {
    var status: HTTPResponse.Status
    var fields: HTTPFields
    var body: [UInt8]
    /// A body that is the same for many requests, instead of `body`: all of them share the memory.
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
    // Names are made from literals that are tokens, so none of these can fail.
    static let trackingID = HTTPField.Name("TrackingId") ?? .server
    static let correlationID = HTTPField.Name("x-ms-correlation-request-id") ?? .server
    static let continuation = HTTPField.Name(Page.continuationHeader) ?? .server
    static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .server
    static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed") ?? .server
}
