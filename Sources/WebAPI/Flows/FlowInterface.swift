import HTTPTypes
import HubWire
import PushBackend
import PushHub
import PushModel

/// Requests that start flows: `POST /flows/NAME`, with the flow's arguments as a JSON object.
struct FlowInterface: Sendable {
    let flows: FlowDispatcher
    let access: HubAccess
    /// The users of the app backend, who may start flows.
    let accounts: BackendAuthenticator

    static let bodyLimit = 256 << 10
    /// Maximum wait for the end of the run, unless the request specifies one.
    private static let timeout: Duration = .seconds(60)
    private static let maximumWait: Duration = .seconds(110)

    /// The flow's name in the path; nil for any other path.
    static func name(_ path: String) -> String? {
        let start = "/flows/"
        guard path.hasPrefix(start) else { return nil }
        let name = path.dropFirst(start.count)
        return name.isEmpty || name.contains("/") ? nil : PercentEncoding.decode(String(name))
    }

    /// Responds when the run has ended, or with 202 if that takes longer than the client waits.
    ///
    /// Throws `flow.not_found` (404, for a caller with Manage; also for a flow that cannot be started by requests), `args.invalid` (400),
    /// `run.overlap` (409), `run.queue_full` (429), `run.failed` (500), and authentication errors.
    func answer(_ request: WebRequest, to name: String) async throws(PushError) -> WebAnswer {
        guard request.method == .post else { throw PushError.notAllowed(request, "POST") }
        guard !access.namespace.isClosed else { throw Namespace.restoring }
        let (actor, caller, body) = try await authenticated(request, try await triggerAccess(of: name, request))
        let wait = try Self.wait(request)
        let arguments = try Self.arguments(body)
        let key = try Self.key(request).map { "request \($0) of \(caller.map { "user:\($0.username.lowercased())" } ?? actor)" }
        let added = try await flows.start(
            RunRequest(flow: name, arguments: arguments, trigger: .http(by: actor), key: key, caller: caller))
        let run = added.run
        if !run.state.isFinal, wait > .zero { await flows.finished(run.number, within: wait) }
        return try Self.answer(try await flows.run(run.id), added.isRepeated, request)
    }

    // MARK: - The request

    /// Returns who may start a flow. If requests cannot start it, or there is none, this requires the right Manage like the list of flows,
    /// so that the response does not reveal to others which flows exist.
    private func triggerAccess(of name: String, _ request: WebRequest) async throws(PushError) -> FlowAccess {
        let absence: PushError
        do throws(PushError) {
            if let way = try await flows.flow(name).triggers.access { return way }
            absence = PushError(
                "flow.not_found", "the flow \(name) cannot be started by requests", hint: "allow requests with http: in its settings",
                status: 404)
        } catch {
            absence = error
        }
        try access.authorize(request, .manage, access.namespace.hub(accounts.services.hub))
        throw absence
    }

    private func authenticated(
        _ request: WebRequest, _ way: FlowAccess
    ) async throws(PushError) -> (actor: String, caller: Session?, body: [UInt8]) {
        if access.isTrusted { return (Principal.owner.description, nil, try await request.body.read(limit: Self.bodyLimit)) }
        switch way {
        case .open: return ("anybody", nil, try await request.body.read(limit: Self.bodyLimit))
        case .account:
            let (session, body) = try await accounts.account(request, limit: Self.bodyLimit)
            return ("user:\(session.username)", session, body)
        case .key(let right):
            let hub = access.namespace.hub(accounts.services.hub)
            let ruleRight = AuthorizationRule.Right(right)
            let rule = try access.authorize(request, ruleRight, hub)
            return (
                access.principal(rule, hub).description, nil,
                try await access.body(request, limit: Self.bodyLimit, ruleRight, of: hub)
            )
        }
    }

    private static func arguments(_ body: [UInt8]) throws(PushError) -> JSONObject {
        guard !body.isEmpty else { return JSONObject() }
        guard let object = try JSON(body: body, hint: "send a JSON object with the arguments of the flow, or nothing").object else {
            throw PushError(
                "request.body", "the body is not a JSON object", hint: "send the flow's arguments by name", status: 400)
        }
        return object
    }

    /// The client's idempotency key. Runs are stored with the caller's name after it: a client that repeats the key of another one must not
    /// get the result of the other's run.
    private static func key(_ request: WebRequest) throws(PushError) -> String? {
        guard let key = request.fields[.idempotencyKey] else { return nil }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw PushError(
                "run.key", "the idempotency key is not 1 to 255 visible ASCII characters", hint: "use a UUID, for example", status: 400)
        }
        return key
    }

    /// Parses `Prefer: respond-async` and `Prefer: wait=10` (RFC 7240, sections 4.1 and 4.3).
    private static func wait(_ request: WebRequest) throws(PushError) -> Duration {
        let words = request.fields.texts("prefer").flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\"" }.lowercased() }
        if words.contains("respond-async") { return .zero }
        guard let word = words.first(where: { $0.hasPrefix("wait=") }) else { return timeout }
        guard let seconds = Int(word.dropFirst(5)), seconds >= 0 else {
            throw PushError(
                "request.parameter", "Prefer has no valid number after wait=", hint: "write Prefer: wait=10, in seconds", status: 400)
        }
        return min(.seconds(min(seconds, 1000)), maximumWait)
    }

    // MARK: - The response

    private static func answer(_ run: RunRecord, _ isRepeated: Bool, _ request: WebRequest) throws(PushError) -> WebAnswer {
        let failure = run.report.failure
        var answer: WebAnswer
        switch run.state {
        case .completed:
            answer = WebAnswer(.ok, "application/json", RunRecordJSON(run).summary.serialized())
        case .queued, .running:
            answer = WebAnswer(.accepted, "application/json", RunRecordJSON(run).summary.serialized())
            answer.fields[.location] = "\(request.server.base)/api/v1/runs/\(run.id)"
        case .skipped: throw FlowDispatcher.overlap(run)
        case .cancelled, .interrupted:
            let code = run.state == .cancelled ? "run.cancelled" : "run.interrupted"
            let isCancelled = run.state == .cancelled
            throw PushError(
                code, "\(run.id) did not complete: \(failure?.message ?? run.state.rawValue)",
                hint: isCancelled ? "repeat it with pushhost runs rerun \(run.id)" : "send the request again",
                status: isCancelled ? 409 : 503,
                isRetryable: !isCancelled, details: run.location)
        case .failed:
            let location = failure?.location.map { "\($0): " } ?? ""
            throw PushError(
                "run.failed",
                "\(run.flow) failed: \(location)\(failure?.message ?? "unknown reason") (\(failure?.code ?? "")), run \(run.id)",
                hint: "see pushhost runs show \(run.id)", status: 500,
                details: run.location.merging(["cause": .string(failure?.code ?? "")]) { $1 })
        }
        answer.fields[.runID] = run.id
        answer.fields[.cacheControl] = "no-store"
        if isRepeated { answer.fields[.idempotencyReplayed] = "true" }
        return answer
    }
}

extension RunRecord {
    /// Where the run failed, for programs.
    fileprivate var location: [String: JSON] {
        var location: [String: JSON] = ["run": .string(id)]
        location["version"] = version.map { .string($0) }
        location["location"] = report.failure?.location.map { .string($0) }
        return location
    }
}

extension HTTPField.Name {
    // The name is a valid token, so the initializer does not fail.
    static let runID = HTTPField.Name("Run-Id") ?? .server
}
