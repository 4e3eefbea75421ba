import HTTPTypes
import HubWire
import NIOCore
import PushBackend
import PushModel

/// The JSON interface: everything below `/api/`, and the document that describes it, `/openapi.json`.
struct ManagementInterface: Sendable {
    static let documentPath = "/openapi.json"

    private let access: HubAccess
    private let accounts: AccountService
    private let flows: FlowDispatcher?
    private let routes = ManagementRoute.all
    /// The serialized document, shared by all responses.
    private let document: ByteBuffer

    /// - Parameter flows: Nil for a server without flows.
    init(access: HubAccess, accounts: AccountService, flows: FlowDispatcher? = nil) {
        (self.access, self.accounts, self.flows) = (access, accounts, flows)
        document = ByteBuffer(bytes: OpenAPIDocument(routes: routes).json.serialized(pretty: true))
    }

    var documentSize: Int { document.readableBytes }

    /// Whether a path belongs to this interface, even if no route matches.
    static func covers(_ path: String) -> Bool { path == documentPath || path == "/api" || path.hasPrefix("/api/") }

    func answer(_ request: WebRequest) async throws(PushError) -> WebAnswer {
        guard request.path != Self.documentPath else {
            guard request.method == .get else { throw PushError.notAllowed(request, "GET") }
            return WebAnswer(.ok, "application/json", shared: document)
        }
        let parts = Self.parts(request.path)
        let found = routes.compactMap { route in route.match(parts).map { (route: route, names: $0) } }
        guard !found.isEmpty else {
            throw PushError(
                "request.path", "unknown path",
                hint: "see \(Self.documentPath) for /api/v1; the app backend has /api/login, /api/register and /api/notifications",
                status: 404)
        }
        guard let (route, names) = found.first(where: { $0.route.method == request.method }) else {
            throw PushError.notAllowed(request, found.map(\.route.method.rawValue).joined(separator: ", "))
        }
        let call = try await ManagementCall(route, names, request, access, accounts, flows)
        var answer = try await route.handle(call)
        await note(call, answer, by: route.noted)
        // Responses may contain keys.
        answer.fields[.cacheControl] = "no-store"
        return answer
    }

    /// Writes an audit entry. A replayed response already has one.
    private func note(_ call: ManagementCall, _ answer: WebAnswer, by noted: ManagementRoute.AuditRule?) async {
        guard let audit = access.audit, let noted, answer.fields[.idempotencyReplayed] == nil,
            let (subject, details) = (try? noted.words(call, answer)) ?? nil
        else { return }
        if noted.isFrequent {
            await audit.noteOften(call.principal, noted.action, subject, details)
        } else {
            await audit.note(call.principal, noted.action, subject, details)
        }
    }

    /// The path pattern of the route, with placeholder names in braces, for metrics.
    func route(of path: String) -> String {
        let parts = Self.parts(path)
        return path == Self.documentPath ? path : routes.first { $0.match(parts) != nil }?.path ?? "none"
    }

    private static func parts(_ path: String) -> [String] {
        path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { PercentEncoding.decode($0) }
    }
}

extension ManagementRoute {
    static let all =
        hubs + credentials + keys + devices + pruned + heldRemovals + tags + notifications + [trace, render] + plans + users + approvals
        + audit + flows
        + runs
        + schedules
}
