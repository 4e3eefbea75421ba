import HTTPTypes
import HubWire
import Hummingbird
package import HummingbirdCore
import Logging
import NIOCore
package import PushBackend
import PushHub
import PushModel

/// Handles every request to the hub's interface and to the server's other paths.
package struct HubResponder: HTTPResponder {
    package typealias Context = HubRequestContext

    private let settings: WebSettings
    private let environment: WebEnvironment
    private let namespace: Namespace
    private let matcher: RouteMatcher
    private let hub: HubInterface
    private let management: ManagementInterface
    private let backend: BackendInterface
    private let server: ServerRoutes
    private let plugins: PluginInterface?
    private let flows: FlowInterface?
    private let errors: ErrorResponder
    private let metrics = RequestMetrics()

    /// - Parameters:
    ///   - settings: Those of the port.
    ///   - backend: The app backend.
    ///   - plugins: Nil for a server without plugins, which has none of their paths.
    ///   - flows: Nil for a server without flows.
    package init(
        settings: WebSettings, environment: WebEnvironment, hubs: HubServices, server: ServerRoutes, backend: BackendServices,
        plugins: PluginRouteServices? = nil, flows: FlowDispatcher? = nil
    ) {
        let access = hubs.access(settings)
        let accounts = BackendAuthenticator(services: backend, throttle: hubs.throttles.requests)
        self.settings = settings
        self.environment = environment
        self.server = server
        namespace = hubs.namespace
        hub = HubInterface(access: access, random: environment.random)
        management = ManagementInterface(
            access: access, services: ManagementServices(accounts: backend.accounts, flows: flows, credentials: hubs.credentials))
        self.backend = BackendInterface(namespace: hubs.namespace, authenticator: accounts, services: backend, flows: flows)
        self.flows = flows.map { FlowInterface(flows: $0, access: access, accounts: accounts) }
        self.plugins = plugins.map { PluginInterface(services: $0, access: access, accounts: accounts, log: environment.log) }
        errors = ErrorResponder(clock: environment.clock, log: environment.log)
        matcher = RouteMatcher(
            hasLab: server.lab != nil, hasControl: server.control != nil, hasFlows: flows != nil, plugins: plugins?.routing)
    }

    package func respond(to request: Request, context: Context) async throws -> Response {
        let (now, start) = (environment.clock.now, environment.uptime())
        let trackingID = self.trackingID(request)
        let target = request.head.path ?? "/"
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        let path = String(target[..<mark])
        let query = RequestQuery(parsing: Substring(target.utf8[mark...].dropFirst()))
        let match = matcher.match(request.method, path)
        var answer: WebAnswer
        do throws(PushError) {
            let asked = webRequest(request, context, match, path: path, query: query, trackingID: trackingID, now: now)
            answer = try await self.answer(asked, match)
        } catch {
            // A client that accepts problem details gets them from all interfaces (RFC 9457, section 3).
            let isAsked = request.headers[.accept]?.contains(ProblemDocument.contentType) ?? false
            answer = errors.answer(
                error, in: isAsked ? .problem : match.errorFormat, trackingID: trackingID, Self.metadata(match, trackingID: trackingID))
        }
        if match.isPrivate { answer.fields[.cacheControl] = "no-store" }
        answer.fields[.trackingID] = trackingID
        answer.fields[.correlationID] = trackingID
        if settings.isSecure { answer.fields[.strictTransportSecurity] = "max-age=2592000" }
        let status = answer.status.code
        let duration = environment.uptime() - start
        metrics.answered(match.label, status: status, after: duration)
        if let plugin = match.plugin { plugins?.count(plugin, status: status) }
        // The arguments are evaluated only if the level is logged.
        environment.log.log(
            level: status >= 500 ? .error : .info, "\(request.method.rawValue) \(path.printableASCII) \(status)",
            metadata: Self.metadata(match, trackingID: trackingID, duration))
        let response = Response(
            status: answer.status, headers: answer.fields,
            body: ResponseBody(byteBuffer: answer.shared ?? ByteBuffer(bytes: answer.body)))
        // A body after HEAD would be read as the next response.
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// The expected response size in bytes. It is exact for large responses that need no token.
    func expectedAnswer(to request: HTTPRequest) -> Int {
        guard request.method == .get else { return Self.smallAnswer }
        switch (request.path ?? "").prefix(while: { $0 != "?" }) {
        case ManagementInterface.documentPath[...]: return management.documentSize
        case SystemRoutes.Page.metrics.rawValue[...]: return server.system.metricsSize
        default: return SystemRoutes.Page(rawValue: request.path ?? "") == nil ? Self.usualAnswer : Self.smallAnswer
        }
    }

    private static let smallAnswer = 4 << 10
    private static let usualAnswer = 64 << 10

    private func answer(_ request: WebRequest, _ match: RouteMatch) async throws(PushError) -> WebAnswer {
        if match.requiresHost { try Self.checkHost(request) }
        let executor: (any TaskExecutor)?
        switch match.executor(for: request) {
        case .loop: executor = nil
        case .serverOrLoop: executor = environment.executor
        case .serverOrGlobal: executor = environment.executor ?? globalConcurrentExecutor
        case .global: executor = globalConcurrentExecutor
        }
        guard let executor else { return try await route(request, match) }
        return try await withTaskExecutorPreference(executor) { () async throws(PushError) -> WebAnswer in
            try await route(request, match)
        }
    }

    private func route(_ request: WebRequest, _ match: RouteMatch) async throws(PushError) -> WebAnswer {
        switch match {
        case .system(let page): return try await server.system.answer(request, at: page)
        case .asterisk:
            guard request.method == .options else { throw PushError.notAllowed(request, "OPTIONS") }
            return WebAnswer(.noContent, [.allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"])
        case .lab: if let lab = server.lab { return try await lab.answer(request, isTrusted: settings.isTrusted) }
        case .control(let operation):
            if let control = server.control { return try await control.answer(request, operation, isTrusted: settings.isTrusted) }
        case .plugin(let path): if let plugins { return try await plugins.answer(request, at: path) }
        case .flow(let name): if let flows { return try await flows.answer(request, to: name) }
        case .backend(let path): return try await backend.answer(request, at: path)
        case .management(let match): return try await management.answer(request, at: match)
        case .hub(let path): return try await hub.answer(request, at: path)
        case .invalid: break
        }
        throw HubAccess.hubNotFound
    }

    // MARK: - Requests

    private func webRequest(
        _ request: Request, _ context: Context, _ match: RouteMatch, path: String, query: RequestQuery, trackingID: String, now: Timestamp
    ) -> WebRequest {
        let authority = request.head.authority ?? ""
        return WebRequest(
            method: request.method == .head && match.treatsHeadAsGet ? .get : request.method,
            server: WebRequest.Server(
                base: settings.publicURL ?? "\(settings.isSecure ? "https" : "http")://\(authority)", authority: authority),
            path: path, query: query, fields: request.headers,
            body: BodyReader(request: request, context: context, acceptsCoding: match.acceptsCodedBody).body,
            receipt: WebRequest.Receipt(trackingID: trackingID, time: now, revision: namespace.revision),
            client: WebRequest.Client(
                address: context.clientAddress, presence: ClientPresence { await context.waitForDisconnect($0) }))
    }

    private static func checkHost(_ request: WebRequest) throws(PushError) {
        guard !request.server.authority.isEmpty, request.server.authority.utf8.count < 300,
            request.server.authority.utf8.allSatisfy({ $0.isPropertyCharacter || "-.:[]".utf8.contains($0) })
        else {
            throw PushError("request.host", "the request has no valid host", hint: "send the header Host", status: 400)
        }
    }

    /// The client's tracking id, if it is safe to log; otherwise a new one.
    private func trackingID(_ request: Request) -> String {
        if let given = request.headers[.trackingID], (1...64).contains(given.utf8.count),
            given.utf8.allSatisfy({ $0.isPropertyCharacter || $0 == UInt8(ascii: "-") })
        {
            return given
        }
        return environment.random.uuid()
    }

    /// The log metadata: the plugin of the request and its version, and the duration of an answered request.
    private static func metadata(_ match: RouteMatch, trackingID: String, _ duration: Duration? = nil) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["tracking_id": "\(trackingID)"]
        metadata["ms"] = duration.map { "\($0.preciseMilliseconds)" }
        metadata["plugin"] = match.plugin?.existingPlugin.map { "\($0)" }
        metadata["version"] = (match.plugin?.route?.version).map { "\($0)" }
        return metadata
    }
}

extension Duration {
    /// Milliseconds with three decimals.
    fileprivate var preciseMilliseconds: String {
        let all = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        return "\(all / 1000).\(Int(all % 1000).padded(3))"
    }
}

extension String {
    /// The path in a form that is safe to log.
    fileprivate var printableASCII: String {
        let text = prefix(300)
        return text.utf8.allSatisfy { (0x20..<0x7f).contains($0) }
            ? String(text) : String(text.unicodeScalars.map { (" "..<"\u{7f}").contains($0) ? Character($0) : "?" })
    }
}
