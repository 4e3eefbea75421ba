import HTTPTypes
import HubWire
import NIOCore
import PushBackend
import PushModel

/// The JSON API: everything below `/api/`, and the document that describes it, `/openapi.json`.
struct ManagementInterface: Sendable {
    static let documentPath = "/openapi.json"

    private let access: HubAccess
    private let services: ManagementServices
    /// The serialized document, shared by all responses.
    private let document: ByteBuffer

    init(access: HubAccess, services: ManagementServices) {
        (self.access, self.services) = (access, services)
        document = ByteBuffer(bytes: OpenAPIDocument(routes: ManagementRoute.all).json.serialized(pretty: true))
    }

    var documentSize: Int { document.readableBytes }

    /// Whether a path belongs to this interface, even if no route matches.
    static func covers(_ path: String) -> Bool { path == documentPath || path == "/api" || path.hasPrefix("/api/") }

    func answer(_ request: WebRequest, at match: ManagementMatch) async throws(PushError) -> WebAnswer {
        switch match {
        case .document:
            guard request.method == .get else { throw PushError.notAllowed(request, "GET") }
            return WebAnswer(.ok, "application/json", shared: document)
        case .unknownPath:
            throw PushError(
                "request.path", "unknown path",
                hint: "see \(Self.documentPath) for /api/v1; the app backend has /api/login, /api/register and /api/notifications",
                status: 404)
        case .otherMethods(let methods, _):
            throw PushError.notAllowed(request, methods.map(\.rawValue).joined(separator: ", "))
        case .route(let route, let names):
            let call = try await ManagementCall(route, names, request, access, services)
            var answer = try await route.handle(call)
            await note(call, answer, by: route.audit)
            // Responses may contain keys.
            answer.fields[.cacheControl] = "no-store"
            return answer
        }
    }

    /// Writes an audit entry. A replayed response already has one.
    private func note(_ call: ManagementCall, _ answer: WebAnswer, by rule: AuditRule?) async {
        guard let audit = access.audit, let rule, answer.fields[.idempotencyReplayed] == nil,
            let (subject, details) = (try? rule.words(call, answer)) ?? nil
        else { return }
        if rule.isFrequent {
            await audit.noteOften(call.principal, rule.action, subject, details)
        } else {
            await audit.note(call.principal, rule.action, subject, details)
        }
    }
}

extension ManagementRoute {
    /// The routes of all areas, in the order of the document.
    static let all: [ManagementRoute] = [
        HubManagement.routes, CredentialManagement.routes, KeyManagement.routes, DeviceManagement.routes, PrunedManagement.routes,
        HeldRemovalManagement.routes, TagManagement.routes, NotificationManagement.routes, [TraceManagement.route, RenderManagement.route],
        PlanManagement.routes, UserManagement.routes, ApprovalManagement.routes, AuditManagement.routes, FlowManagement.routes,
        RunManagement.routes, ScheduleManagement.routes,
    ].flatMap { $0 }
}
