import HTTPTypes
import HubWire
import Logging
import PushHub
import PushModel

/// The routes of plugins: everything below `/plugins/`.
struct PluginInterface: Sendable {
    private let services: PluginRouteServices
    private let access: HubAccess
    /// The users of the app backend.
    private let accounts: BackendAuthenticator
    private let log: Logger
    private let metrics = PluginMetrics()
    private let receipts: WebhookReceipts

    init(services: PluginRouteServices, access: HubAccess, accounts: BackendAuthenticator, log: Logger) {
        (self.services, self.access, self.accounts, self.log) = (services, access, accounts, log)
        receipts = WebhookReceipts(services.spaces)
    }

    func count(_ path: PluginPath, status: Int) {
        if let plugin = path.existingPlugin { metrics.answered(plugin, status: status) }
    }

    /// Throws `route.not_found` (404), `route.method` (405), `request.too_large` (413), authentication errors, and the route's errors.
    func answer(_ request: WebRequest, at path: PluginPath) async throws(PushError) -> WebAnswer {
        let route = try Self.route(path, request)
        guard !access.namespace.isClosed else { throw Namespace.restoring }
        var pluginRequest = PluginRequest(
            method: request.method.rawValue, path: path.path, query: request.query.items, headers: Self.headers(request))
        switch route.authentication {
        case .open: pluginRequest.body = try await request.body.read(limit: route.bodyLimit)
        case .account:
            // The server authenticates the user. Plugins must not see passwords.
            pluginRequest.headers["authorization"] = nil
            let (session, body) = try await accounts.account(request, limit: route.bodyLimit)
            pluginRequest.username = session.username
            pluginRequest.body = body
        case .sas(let right):
            pluginRequest.headers["authorization"] = nil
            let hub = access.namespace.hub(accounts.services.hub)
            let ruleRight = AuthorizationRule.Right(right)
            try access.authorize(request, ruleRight, hub)
            pluginRequest.body = try await access.body(request, limit: route.bodyLimit, ruleRight, of: hub)
        case .webhook(let secret, let scheme):
            return try await webhook(request, pluginRequest, path.plugin, route, secret: secret, scheme)
        }
        return try await run(route, pluginRequest, request)
    }

    private static func route(_ path: PluginPath, _ request: WebRequest) throws(PushError) -> any PluginRoute {
        switch path.match {
        case .found(let route): return route
        case .notFound:
            throw PushError(
                "route.not_found", "no plugin has a route for this path", hint: "check the name of the plugin and the rest of the path",
                status: 404)
        case .otherMethods(let methods):
            let methods = methods.flatMap { $0 == "GET" ? ["GET", "HEAD"] : [$0] }.joined(separator: ", ")
            throw PushError(
                "route.method", "the method \(request.method.rawValue) is not allowed here", hint: "use \(methods)", status: 405,
                details: ["allow": .string(methods)])
        }
    }

    /// The header fields by lower-case name.
    private static func headers(_ request: WebRequest) -> [String: String] {
        var headers = ["host": request.server.authority]
        for name in Set(request.fields.map(\.name)) { headers[name.canonicalName] = request.fields[name] }
        return headers
    }

    private func run(_ route: any PluginRoute, _ pluginRequest: PluginRequest, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        // Reading the body may have taken long.
        guard !access.namespace.isClosed else { throw Namespace.restoring }
        let answer = try await request.client.presence.during { () throws(PushError) in try await route.answer(pluginRequest) }
        return try WebAnswer(answer)
    }

    // MARK: - Webhooks

    /// Runs a webhook and logs rejected requests with the reason, because the sender may be an attacker.
    private func webhook(
        _ request: WebRequest, _ pluginRequest: PluginRequest, _ plugin: String, _ route: any PluginRoute, secret: String,
        _ scheme: WebhookScheme
    ) async throws(PushError) -> WebAnswer {
        do throws(PushError) {
            return try await runWebhook(request, pluginRequest, plugin, route, secret: secret, scheme)
        } catch {
            if error.code.hasPrefix("webhook."), (error.status ?? 500) < 500 {
                log.warning(
                    "\(route.name): \(error.message) (\(error.code))",
                    metadata: ["plugin": "\(plugin)", "version": "\(route.version)", "tracking_id": "\(request.trackingID)"])
            }
            throw error
        }
    }

    /// Runs a webhook once, or again if the previous run failed.
    private func runWebhook(
        _ request: WebRequest, _ pluginRequest: PluginRequest, _ plugin: String, _ route: any PluginRoute, secret: String,
        _ scheme: WebhookScheme
    ) async throws(PushError) -> WebAnswer {
        let signature = try WebhookSignature(request.fields, scheme)
        var pluginRequest = pluginRequest
        pluginRequest.body = try await request.body.read(limit: route.bodyLimit)
        guard let key = route.webhookSecret().flatMap({ scheme.key($0) }) else {
            throw PushError(
                "webhook.secret", "the secret that this webhook is signed with is not set, or not granted to the plugin",
                hint: "set it on the server to the sender's value, and grant it; the log names it", status: 503,
                details: ["cause": .string("\(route.name) needs the secret \(secret)")])
        }
        try signature.check(pluginRequest.body, key, now: request.now)
        pluginRequest.deliveryID = signature.id
        let receipt = try await receipts.begin(
            signature.name(pluginRequest.body, at: route.name), of: plugin, until: signature.end(now: request.now), now: request.now)
        let result: Result<WebAnswer, PushError>
        do throws(PushError) {
            result = .success(try await run(route, pluginRequest, request))
        } catch {
            result = .failure(error)
        }
        await end(receipt, isAccepted: !result.shouldBeRepeated, request)
        return try result.get()
    }

    /// Ends a receipt in a separate task, so that this happens even if the request was cancelled.
    private func end(_ receipt: WebhookReceipts.Receipt, isAccepted: Bool, _ request: WebRequest) async {
        let ending = Task {
            if isAccepted {
                try await receipts.accept(receipt, now: request.now)
            } else {
                try await receipts.release(receipt, now: request.now)
            }
        }
        guard case .failure(let error) = await ending.result else { return }
        log.warning(
            "\(isAccepted ? "an accepted webhook would be accepted again after a restart: " : "")\(error)",
            metadata: ["tracking_id": "\(request.trackingID)"])
    }
}

extension Result where Success == WebAnswer, Failure == PushError {
    /// Whether the sender should repeat the request. A failure means that the plugin was not executed or did not finish.
    fileprivate var shouldBeRepeated: Bool {
        switch self {
        case .success(let answer): answer.status.code >= 500 || [408, 425, 429].contains(answer.status.code)
        case .failure: true
        }
    }
}

extension WebAnswer {
    /// Header fields that only the server may set (RFC 9110 and RFC 9112). Otherwise two programs could interpret a response differently.
    private static let ownFields: Set<String> = [
        "connection", "content-length", "date", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Throws `route.failed` (500) for a response that is invalid in HTTP.
    fileprivate init(_ answer: PluginResponse) throws(PushError) {
        guard (200...599).contains(answer.status) else {
            throw PushError(
                "route.failed", "the plugin's function failed", hint: "see the server's log", status: 500,
                details: ["cause": .string("it returned the status \(answer.status)")])
        }
        var fields = HTTPFields()
        for header in answer.headers {
            guard let name = HTTPField.Name(header.name), !Self.ownFields.contains(name.canonicalName) else { continue }
            fields.append(HTTPField(name: name, value: header.value))
        }
        // These statuses have no body (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5). A body would be read as the next response.
        let isEmpty = [204, 205, 304].contains(answer.status)
        self.init(HTTPResponse.Status(code: answer.status), fields, body: isEmpty ? [] : answer.body)
    }
}
