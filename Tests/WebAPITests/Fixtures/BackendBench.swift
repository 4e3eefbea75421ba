import Foundation
import HTTPTypes
import HubWire
import PushBackend
import PushHub
import PushModel
import Support

@testable import WebAPI

/// The app backend over a namespace with one hub, `hub`, and two users, `alice` and `bob`, whose passwords are `a:b` and `b`.
struct BackendBench {
    let bench: RouteBench
    let interface: BackendInterface
    let authenticator: BackendAuthenticator

    init(requestsPerMinute: Int? = nil, issuer: TokenIssuer? = nil) async throws {
        bench = try await RouteBench()
        let services = BackendServices(
            environment: bench.bench.environment, accounts: bench.accounts, securePayloads: bench.bench.securePayloads, hub: "hub",
            issuer: issuer)
        authenticator = BackendAuthenticator(services: services, throttle: Throttle(perMinute: requestsPerMinute))
        interface = BackendInterface(namespace: bench.access.namespace, authenticator: authenticator, services: services)
        try await bench.accounts.add(username: "alice", password: Secret("a:b"))
        try await bench.accounts.add(username: "bob", password: Secret("b"))
    }

    static let alice = "Basic \(Data("alice:a:b".utf8).base64EncodedString())"
    static let bob = "Basic \(Data("bob:b".utf8).base64EncodedString())"

    /// - Parameters:
    ///   - path: with its query.
    ///   - authorization: nil for none.
    ///   - meanwhile: what to run before the body arrives.
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", by authorization: String? = BackendBench.alice,
        _ fields: HTTPFields = [:], while meanwhile: @escaping @Sendable () async throws(PushError) -> Void = {}
    ) async throws -> WebAnswer {
        var fields = fields
        fields[.authorization] = authorization
        let request = WebRequest(
            method: method, server: WebRequest.Server(base: "http://localhost", authority: "localhost"),
            path: String(path.prefix { $0 != "?" }),
            query: RequestQuery(parsing: path.drop { $0 != "?" }.dropFirst()), fields: fields,
            body: RequestBody { limit throws(PushError) in
                try await meanwhile()
                guard body.utf8.count <= limit else { throw PushError("request.too_large", "too large", status: 413) }
                return Array(body.utf8)
            }, receipt: WebRequest.Receipt(trackingID: "t", time: HubBench.startTime), client: WebRequest.Client(address: "10.0.0.1"))
        guard let path = BackendPath(request.path) else { throw PushError("request.path", "no path of the backend") }
        return try await interface.answer(request, at: path)
    }

    /// The JSON of the answer.
    func json(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", by authorization: String? = BackendBench.alice,
        _ fields: HTTPFields = [:]
    ) async throws -> JSON {
        try JSON(parsing: try await call(method, path, body, by: authorization, fields).body)
    }

    /// Creates a registration of the user and returns its id.
    func registered(_ body: String, by authorization: String = BackendBench.alice, at start: String = "") async throws -> String {
        let id = try await json(.post, "\(start)/api/register", by: authorization).string ?? ""
        _ = try await call(.put, "\(start)/api/register/\(id)", body, by: authorization)
        return id
    }

    var hub: NotificationHub? { bench.access.namespace.hub("hub")?.service }

    /// The registrations of the hub.
    var registrations: [Registration] {
        get async throws { try await hub?.registrations(.all, page: Page()).registrations ?? [] }
    }

    /// The notification that a request asks for.
    func sent(_ answer: WebAnswer) async throws -> NotificationRequest? {
        guard let id = answer.fields[.notificationID] else { return nil }
        return try await hub?.notification(id).request
    }
}

extension NotificationRequest {
    /// The body for a platform.
    func body(_ platform: Platform) -> String? {
        guard case .native(let payloads) = content, let payload = payloads[platform] else { return nil }
        return String(decoding: payload.body, as: UTF8.self)
    }
}
