import HTTPTypes
import HubWire
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PushBackend
import PushHub
import PushModel

/// Handles every request to the hub's interface and to the server's other paths.
package struct HubResponder: HTTPResponder {
    package typealias Context = HubRequestContext

    private let settings: WebSettings
    private let namespace: Namespace
    private let clock: any HubClock
    private let random: any RandomSource
    private let registrations: RegistrationRoutes
    private let installations: InstallationRoutes
    private let messages: MessageRoutes
    private let feedback: FeedbackRoutes
    private let jobs: JobRoutes
    private let hubs: HubRoutes
    private let management: ManagementInterface
    private let backend: BackendInterface
    private let system: SystemRoutes
    private let control: ControlRoutes?
    private let lab: LabRoutes?
    private let plugins: PluginInterface?
    private let flows: FlowInterface?
    private let executor: (any TaskExecutor)?
    private let meter = RequestMeter()
    private let log: Logger

    /// - Parameters:
    ///   - credentials: Operations on hubs' credentials.
    ///   - audit: The audit log; nil for none.
    ///   - sendGuard: Requires approval for large sends; nil for none.
    ///   - plugins: Nil for a server without plugins, which has none of their paths.
    ///   - flows: Nil for a server without flows.
    ///   - executor: Where requests are handled. By default, quick ones run on the connection's loop and others on the global executor.
    package init(
        namespace: Namespace, clock: any HubClock, random: any RandomSource, log: Logger, settings: WebSettings,
        throttles: Throttles, system: SystemRoutes, backend: BackendServices,
        credentials: CredentialServices = .none, audit: AuditLog? = nil, sendGuard: SendGuard? = nil, control: ControlRoutes? = nil,
        lab: LabRoutes? = nil,
        plugins: PluginRouteServices? = nil, flows: FlowDispatcher? = nil, executor: (any TaskExecutor)? = nil
    ) {
        let access = HubAccess(
            namespace: namespace, throttle: throttles.requests, testThrottle: throttles.testSends, isTrusted: settings.isTrusted,
            policy: settings.policy,
            credentials: credentials, audit: audit, sendGuard: sendGuard)
        self.settings = settings
        self.namespace = namespace
        self.clock = clock
        self.random = random
        self.log = log
        self.system = system
        self.control = control
        self.lab = lab
        self.executor = executor
        registrations = RegistrationRoutes(access: access)
        installations = InstallationRoutes(access: access)
        messages = MessageRoutes(access: access)
        feedback = FeedbackRoutes(access: access)
        jobs = JobRoutes(access: access, random: random)
        hubs = HubRoutes(access: access, random: random)
        management = ManagementInterface(access: access, accounts: backend.accounts, flows: flows)
        let backend = BackendInterface(namespace: namespace, throttle: throttles.requests, services: backend, flows: flows)
        self.backend = backend
        self.flows = flows.map { FlowInterface(flows: $0, access: access, backend: backend) }
        self.plugins = plugins.map { PluginInterface(services: $0, access: access, backend: backend, log: log) }
    }

    package func respond(to request: Request, context: Context) async throws -> Response {
        let (now, start) = (clock.now, ContinuousClock.now)
        let trackingID = self.trackingID(request)
        let target = request.head.path ?? "/"
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        let path = String(target[..<mark])
        let query = RequestQuery(parsing: Substring(target.utf8[mark...].dropFirst()))
        let isLab = lab != nil && LabRoutes.covers(path)
        let plugin = plugins?.place(path, request.method)
        let flow = flows == nil ? nil : FlowInterface.name(path)
        let backendPath = isLab || plugin != nil || flow != nil ? nil : BackendPath(path)
        let isManagement = backendPath == nil && ManagementInterface.covers(path)
        let place = isManagement || isLab || plugin != nil || flow != nil || backendPath != nil ? nil : HubPath(path)
        var answer: WebAnswer
        do throws(PushError) {
            let asked = webRequest(
                request, context, path: path, query: query, trackingID: trackingID, now: now, isPlugin: plugin != nil)
            answer = try await self.answer(asked, at: place, backendPath, plugin, flow)
        } catch {
            // A client that accepts problem details gets them from all interfaces (RFC 9457, section 3).
            let isAsked = request.headers[.accept]?.contains(ProblemDocument.contentType) ?? false
            let isOurs = isManagement || isLab || plugin != nil || flow != nil || backendPath != nil
            answer = failure(error, isProblem: isOurs || isAsked, plugin, trackingID: trackingID)
        }
        // Responses may contain tokens and payloads.
        if backendPath != nil { answer.fields[.cacheControl] = "no-store" }
        answer.fields[.trackingID] = trackingID
        answer.fields[.correlationID] = trackingID
        if settings.isSecure { answer.fields[.strictTransportSecurity] = "max-age=2592000" }
        let status = answer.status.code
        let duration = ContinuousClock.now - start
        let word = isLab ? "/lab" : plugin != nil ? "/plugins" : flow != nil ? "/flows" : nil
        let route = word ?? backendPath?.route ?? (isManagement ? management.route(of: path) : place?.route ?? "none")
        meter.answered(route, status: status, after: duration)
        if let plugin { plugins?.count(plugin, status: status) }
        var metadata = Self.metadata(plugin, trackingID: trackingID)
        metadata["ms"] = "\(duration.preciseMilliseconds)"
        log.log(
            level: status >= 500 ? .error : .info, "\(request.method.rawValue) \(path.printableASCII) \(status)", metadata: metadata)
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
        case SystemRoutes.metricsPath[...]: return system.metricsSize
        default: return SystemRoutes.paths.contains(where: { request.path == $0 }) ? Self.smallAnswer : Self.usualAnswer
        }
    }

    private static let smallAnswer = 4 << 10
    private static let usualAnswer = 64 << 10

    private func answer(
        _ request: WebRequest, at place: HubPath?, _ backendPath: BackendPath?, _ plugin: PluginPath?, _ flow: String?
    ) async throws(PushError) -> WebAnswer {
        if let answer = try await system.answer(request) { return answer }
        try Self.checkTarget(request)
        if request.path == "*" { return WebAnswer(.noContent, [.allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"]) }
        if let lab, LabRoutes.covers(request.path) {
            return try await withTaskExecutorPreference(globalConcurrentExecutor) { () async throws(PushError) -> WebAnswer in
                try await lab.answer(request, isTrusted: settings.isTrusted)
            }
        }
        if executor == nil, let place, place.isQuick(request) { return try await answer(place, request) }
        // Long work on a loop would delay all its other connections.
        return try await withTaskExecutorPreference(executor ?? globalConcurrentExecutor) { () async throws(PushError) -> WebAnswer in
            if let answer = try await control?.answer(request, isTrusted: settings.isTrusted) { return answer }
            if let plugin, let plugins { return try await plugins.answer(request, at: plugin) }
            if let flow, let flows { return try await flows.answer(request, to: flow) }
            if let backendPath { return try await backend.answer(request, at: backendPath) }
            if ManagementInterface.covers(request.path) { return try await management.answer(request) }
            guard let place else { throw HubAccess.hubNotFound }
            return try await answer(place, request)
        }
    }

    private func answer(_ place: HubPath, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        switch place {
        case .hubs:
            guard request.method == .get else { throw PushError.notAllowed(request, "GET") }
            return try await hubs.list(request)
        case .feedback(let name):
            guard request.method == .get else { throw PushError.notAllowed(request, "GET") }
            return try await feedback.records(of: name, request)
        case .hub(let name):
            switch request.method {
            case .put: return try await hubs.put(name, request)
            case .get: return try await hubs.get(name, request)
            case .delete: return try await hubs.delete(name, request)
            default: throw PushError.notAllowed(request, "GET, PUT, DELETE")
            }
        case .inHub(let hub, let place): return try await answer(place, of: hub, request)
        }
    }

    private func answer(_ place: HubPath.Place, of hub: String, _ request: WebRequest) async throws(PushError) -> WebAnswer {
        switch (place, request.method) {
        case (.registrationIDs, .post): return try await registrations.createID(hub, request)
        case (.registrations, .post): return try await registrations.create(hub, request)
        case (.registrations, .get): return try await registrations.list(hub, request)
        case (.registration(let id), .put): return try await registrations.put(id, of: hub, request)
        case (.registration(let id), .get): return try await registrations.get(id, of: hub, request)
        case (.registration(let id), .delete): return try await registrations.delete(id, of: hub, request)
        case (.taggedRegistrations(let tag), .get): return try await registrations.list(tag: tag, of: hub, request)
        case (.installation(let id), .put): return try await installations.put(id, of: hub, request)
        case (.installation(let id), .get): return try await installations.get(id, of: hub, request)
        case (.installation(let id), .patch): return try await installations.patch(id, of: hub, request)
        case (.installation(let id), .delete): return try await installations.delete(id, of: hub, request)
        case (.messages, .post): return try await messages.send(hub, request)
        case (.batch, .post): return try await messages.sendBatch(hub, request)
        case (.message(let id), .get): return try await messages.telemetry(id, of: hub, request)
        case (.schedule, .post): return try await messages.schedule(hub, request)
        case (.scheduled(let id), .delete): return try await messages.cancel(id, of: hub, request)
        case (.feedback, .get): return try await feedback.container(of: hub, request)
        case (.jobs, .post): return try await jobs.create(hub, request)
        case (.jobs, .get): return try await jobs.list(hub, request)
        case (.job(let id), .get): return try await jobs.get(id, of: hub, request)
        default: throw PushError.notAllowed(request, place.methods)
        }
    }

    // MARK: - Requests

    private func webRequest(
        _ request: Request, _ context: Context, path: String, query: RequestQuery, trackingID: String, now: Timestamp,
        isPlugin: Bool
    ) -> WebRequest {
        let authority = request.head.authority ?? ""
        return WebRequest(
            // HEAD is handled as GET without the body (RFC 9110, section 9.3.2). Not so in the app backend, where a GET of a payload counts
            // as a read.
            method: request.method == .head && (isPlugin || BackendPath(path) == nil) ? .get : request.method,
            base: settings.publicURL ?? "\(settings.isSecure ? "https" : "http")://\(authority)", authority: authority,
            path: path, query: query, fields: request.headers, trackingID: trackingID, now: now,
            body: RequestBody { limit throws(PushError) in
                if !isPlugin { try Self.checkCoding(request) }
                return try await Self.collect(request, context, limit: limit)
            }, address: context.clientAddress, client: ClientPresence { await context.departure($0) }, revision: namespace.revision)
    }

    /// Throws if a request's target is invalid. The server's own paths respond nonetheless, because health checks may not know the server's
    /// name.
    private static func checkTarget(_ request: WebRequest) throws(PushError) {
        guard !request.authority.isEmpty, request.authority.utf8.count < 300,
            request.authority.utf8.allSatisfy({ $0.isPropertyCharacter || "-.:[]".utf8.contains($0) })
        else {
            throw PushError("request.host", "the request has no valid host", hint: "send the header Host", status: 400)
        }
        if request.path == "*", request.method != .options { throw PushError.notAllowed(request, "OPTIONS") }
    }

    /// Reads the whole body: up to its Content-Length, its last chunk or the end of its stream. The connection's guard limits the time.
    private static func collect(_ request: Request, _ context: Context, limit: Int) async throws(PushError) -> [UInt8] {
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > limit { throw tooLarge(limit) }
        var bytes: [UInt8] = []
        do {
            if request.headers[.expect]?.lowercased() == "100-continue" { try await context.sendContinue() }
            for try await part in request.body {
                guard bytes.count + part.readableBytes <= limit else { throw tooLarge(limit) }
                bytes += part.readableBytesView
            }
        } catch let error as PushError {
            throw error
        } catch is RequestGuard.BodyTimeout {
            throw PushError(
                "request.too_slow", "the body did not arrive in time", hint: "send it again", status: 408, isRetryable: true)
        } catch is RequestGuard.NoMemory {
            throw PushError(
                "request.busy", "too many bytes are buffered for this client or for the server",
                hint: "read earlier responses, then send the request again in a second", status: 503, isRetryable: true,
                details: ["retryAfter": 1])
        } catch is ChunkGuard.ExcessiveOverhead {
            throw PushError(
                "request.broken", "the chunks of the body have more than \(ChunkGuard.tolerance / 1024) KiB of extensions",
                hint: "send the body without chunk extensions", status: 400)
        } catch {
            throw brokenBody
        }
        guard length == nil || length == bytes.count else { throw brokenBody }
        return bytes
    }

    private static var brokenBody: PushError {
        PushError("request.broken", "the connection ended before the body did", hint: "send it again", status: 400)
    }

    /// Rejects encoded bodies. Plugins receive them with their header and may decode them.
    private static func checkCoding(_ request: Request) throws(PushError) {
        guard let name = request.headers[.contentEncoding].flatMap(ContentCoding.firstEncoded(in:)) else { return }
        throw PushError(
            "request.encoding", "the body has the content coding \"\(name)\", which this server does not decode; nothing was changed",
            hint: "send the body without Content-Encoding", status: 415, details: ["acceptEncoding": "identity"])
    }

    private static func tooLarge(_ limit: Int) -> PushError {
        PushError(
            "request.too_large", "the body has more than \(limit) bytes", hint: "send less at a time", status: 413,
            details: ["limit": .integer(Int64(limit))])
    }

    /// The client's tracking id, if it is safe to log; otherwise a new one.
    private func trackingID(_ request: Request) -> String {
        if let given = request.headers[.trackingID], (1...64).contains(given.utf8.count),
            given.utf8.allSatisfy({ $0.isPropertyCharacter || $0 == UInt8(ascii: "-") })
        {
            return given
        }
        return random.uuid()
    }

    // MARK: - Errors

    /// The log metadata: the plugin of the request and its version.
    private static func metadata(_ plugin: PluginPath?, trackingID: String) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["tracking_id": "\(trackingID)"]
        metadata["plugin"] = plugin?.existingPlugin.map { "\($0)" }
        metadata["version"] = (plugin?.route?.version).map { "\($0)" }
        return metadata
    }

    /// Turns an error into a response. In the hub's interface, a missing right to send gives no text, as clients expect.
    private func failure(_ error: PushError, isProblem: Bool, _ plugin: PluginPath? = nil, trackingID: String) -> WebAnswer {
        let document = ErrorDocument(error)
        if error.code == "sas.forbidden", document.status == 403, !isProblem { return WebAnswer(.forbidden) }
        if document.status >= 500 {
            let cause = error.details["cause"]?.string.map { ": \($0)" } ?? ""
            var metadata = Self.metadata(plugin, trackingID: trackingID)
            for name in ["plugin", "version", "run"] { metadata[name] = error.details[name]?.string.map { "\($0)" } ?? metadata[name] }
            log.error("\(error.description)\(cause)", metadata: metadata)
        }
        var answer = WebAnswer(
            HTTPResponse.Status(code: document.status), isProblem ? ProblemDocument.contentType : ErrorDocument.contentType,
            isProblem
                ? ProblemDocument(error: error, trackingID: trackingID).json.serialized()
                : document.document(trackingID: trackingID, now: clock.now))
        if let seconds = error.details["retryAfter"]?.int ?? document.retryAfter { answer.fields[.retryAfter] = "\(seconds)" }
        if let run = error.details["run"]?.string { answer.fields[.runID] = run }
        if let challenge = error.details["challenge"]?.string { answer.fields[.wwwAuthenticate] = challenge }
        if let methods = error.details["allow"]?.string { answer.fields[.allow] = methods }
        if let codings = error.details["acceptEncoding"]?.string { answer.fields[.acceptEncoding] = codings }
        return answer
    }
}

extension HubPath {
    /// Whether a request is frequent and takes little work: one device, or a notification that is only accepted.
    fileprivate func isQuick(_ request: WebRequest) -> Bool {
        guard case .inHub(_, let place) = self else { return false }
        switch place {
        case .registrationIDs, .registration, .message, .scheduled: return true
        case .registrations: return request.method == .post
        case .installation: return request.method != .patch
        case .messages, .batch, .schedule: return !request.query.has("test") && !MessageHeaders(request.fields).isTest
        case .taggedRegistrations, .feedback, .jobs, .job: return false
        }
    }
}

extension HubPath.Place {
    /// The allowed methods.
    fileprivate var methods: String {
        switch self {
        case .registrationIDs, .messages, .batch, .schedule: "POST"
        case .registrations, .jobs: "GET, POST"
        case .registration: "GET, PUT, DELETE"
        case .installation: "GET, PUT, PATCH, DELETE"
        case .taggedRegistrations, .message, .feedback, .job: "GET"
        case .scheduled: "DELETE"
        }
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
