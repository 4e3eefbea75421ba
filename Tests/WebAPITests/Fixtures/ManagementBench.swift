import HTTPTypes
import HubWire
import PushBackend
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

/// The JSON API over a namespace with one hub, `hub`.
struct ManagementBench {
    let bench: RouteBench
    private let interface: ManagementInterface

    init(credentials: CredentialServices = .none, flows: FlowDispatcher? = nil) async throws {
        bench = try await RouteBench()
        interface = ManagementInterface(
            access: bench.access, services: ManagementServices(accounts: bench.accounts, flows: flows, credentials: credentials))
    }

    var namespace: Namespace { bench.access.namespace }
    var hub: NotificationHub {
        get throws { try #require(namespace.hub("hub")).service }
    }
    var root: AuthorizationRule {
        get throws { try #require(namespace.rules.first) }
    }

    /// A rule of a hub.
    func rule(_ name: String, of hub: String = "hub") throws -> AuthorizationRule {
        try #require(namespace.hub(hub)?.record.description.rules.first { $0.name == name })
    }

    /// Returns the JSON of the answer, which must match the schema in the API document.
    /// - Parameters:
    ///   - path: with its query.
    ///   - rule: the rule whose primary key signs; nil for the server's.
    @discardableResult
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil, by rule: AuthorizationRule? = nil,
        for resource: String = "sb://localhost/"
    ) async throws -> JSON {
        let request = request(method, path, body, by: try rule ?? root, for: resource)
        let answer = try await interface.answer(request)
        guard case .route(let route, _) = ManagementMatch(method, request.path, among: ManagementRoute.all) else {
            throw PushError("test.route", "there is no such route")
        }
        #expect(answer.status == route.answer.status)
        guard let schema = route.answer.schema else {
            #expect(answer.body.isEmpty)
            return .null
        }
        let json = try JSON(parsing: answer.body)
        try schema.check(json, route.operation.path)
        return json
    }

    /// Why the server's key is refused; nil if it is accepted.
    func refusal(_ method: HTTPRequest.Method, _ path: String, _ body: JSON?) async -> PushError? {
        do throws(PushError) {
            guard let root = namespace.rules.first else { return PushError("test.rule", "there is no such rule") }
            _ = try await interface.answer(request(method, path, body, by: root, for: "sb://localhost/"))
            return nil
        } catch {
            return error
        }
    }

    private func request(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSON?, by rule: AuthorizationRule, for resource: String
    ) -> WebRequest {
        let token = SASToken(minting: resource, rule: rule, expiration: HubBench.startTime + .seconds(60))
        return WebRequest(
            method: method, server: WebRequest.Server(base: "http://localhost", authority: "localhost"),
            path: String(path.prefix { $0 != "?" }),
            query: RequestQuery(parsing: path.drop { $0 != "?" }.dropFirst()), fields: [.authorization: token.header],
            body: RequestBody { _ in body?.serialized() ?? [] },
            receipt: WebRequest.Receipt(trackingID: "t", time: HubBench.startTime))
    }

    /// All items of a list, page by page, and the size of each page.
    func pages(_ path: String) async throws -> (items: [JSON], sizes: [Int]) {
        var (items, sizes): ([JSON], [Int]) = ([], [])
        var continuation = ""
        while true {
            let page = try await call(.get, path + continuation)
            let found = try #require(page["items"]?.array)
            items += found
            sizes.append(found.count)
            guard let next = page["continuation"]?.string else { return (items, sizes) }
            continuation = "&continuation=\(PercentEncoding.encode(next))"
        }
    }

    /// A member of each item of a list, page by page.
    func list(_ path: String, _ member: String) async throws -> [String] {
        try await pages(path).items.compactMap { $0[member]?.string }
    }
}

extension ManagementInterface {
    /// Finds the route of a request and answers it.
    func answer(_ request: WebRequest) async throws(PushError) -> WebAnswer {
        try await answer(request, at: ManagementMatch(request.method, request.path, among: ManagementRoute.all))
    }
}

extension RouteBench {
    /// The JSON API without flows and credentials.
    var management: ManagementInterface { ManagementInterface(access: access, services: ManagementServices(accounts: accounts)) }
}
