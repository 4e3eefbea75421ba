import HTTPTypes
import HubWire
import PushCore

/// Requests that start flows: `POST /flows/NAME`, with the arguments of the flow as a JSON object.
struct FlowInterface: Sendable {
    let flows: FlowDispatcher
    let access: HubAccess
    /// Whose users they are.
    let backend: BackendInterface

    static let bodyLimit = 256 << 10
    /// How long an answer waits for the end of the run where the request does not say.
    private static let patience: Duration = .seconds(60)
    private static let longestPatience: Duration = .seconds(110)

    /// The name in the path of a flow; nil for any other path. Still encoded: names have no characters that would have to be.
    static func name(_ path: String) -> String? {
        let start = "/flows/"
        guard path.hasPrefix(start) else { return nil }
        let name = path.dropFirst(start.count)
        return name.isEmpty || name.contains("/") ? nil : PercentEncoding.decode(String(name))
    }

    /// Answers when the run has ended, or with 202 where that takes longer than the client waits.
    ///
    /// Throws `flow.not_found` (404) also for a flow that no request starts, `args.invalid` (400), `run.overlap` (409), `run.queue_full`
    /// (429), `run.failed` (500), and what the way of proving who one is throws.
    func answer(_ request: WebRequest, to name: String) async throws(PushError) -> WebAnswer {
        guard request.method == .post else { throw HubResponder.notAllowed(request, "POST") }
        guard !access.namespace.isClosed else { throw Namespace.restoring }
        let flow = try await flows.flow(name)
        guard let way = flow.access else {
            throw PushError(
                "flow.not_found", "no request starts the flow \(name)", hint: "http: in its settings says who may", status: 404)
        }
        let (actor, caller, body) = try await authenticated(request, way)
        let wait = try Self.wait(request)
        let arguments = try Self.arguments(body)
        let key = try Self.key(request)
        let added = try await flows.start(
            RunRequest(flow: name, arguments: arguments, trigger: .http(by: actor), key: key, caller: caller))
        let run = added.run
        if !run.state.isFinal, wait > .zero { await flows.finished(run.number, within: wait) }
        return try Self.answer(try await flows.run(run.id), added.isRepeated, request)
    }

    // MARK: - Who asks, and for what

    private func authenticated(
        _ request: WebRequest, _ way: FlowAccess
    ) async throws(PushError) -> (actor: String, caller: Session?, body: [UInt8]) {
        if access.isTrusted { return (Principal.owner.description, nil, try await request.body.read(limit: Self.bodyLimit)) }
        switch way {
        case .open: return ("anybody", nil, try await request.body.read(limit: Self.bodyLimit))
        case .account:
            let (session, body) = try await backend.account(request, limit: Self.bodyLimit)
            return ("user:\(session.username)", session, body)
        case .key(let right):
            let hub = access.namespace.hub(backend.services.hub)
            let rule = try access.authorize(request, right.ofRules, hub)
            return (
                access.principal(rule, hub).description, nil, try await access.body(request, limit: Self.bodyLimit, right.ofRules, of: hub)
            )
        }
    }

    private static func arguments(_ body: [UInt8]) throws(PushError) -> JSONObject {
        guard !body.isEmpty else { return JSONObject() }
        guard let object = try JSON(body: body, hint: "send a JSON object with the arguments of the flow, or nothing").object else {
            throw PushError(
                "request.body", "the body is no JSON object", hint: "send the arguments of the flow by their names", status: 400)
        }
        return object
    }

    private static func key(_ request: WebRequest) throws(PushError) -> String? {
        guard let key = request.fields[.idempotencyKey] else { return nil }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw PushError(
                "run.key", "the idempotency key is not 1 to 255 visible ASCII characters", hint: "a UUID will do", status: 400)
        }
        return "request \(key)"
    }

    /// `Prefer: respond-async` and `Prefer: wait=10` (RFC 7240, sections 4.1 and 4.3).
    private static func wait(_ request: WebRequest) throws(PushError) -> Duration {
        let words = request.fields.texts("prefer").flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\"" }.lowercased() }
        if words.contains("respond-async") { return .zero }
        guard let word = words.first(where: { $0.hasPrefix("wait=") }) else { return patience }
        guard let seconds = Int(word.dropFirst(5)), seconds >= 0 else {
            throw PushError(
                "request.parameter", "Prefer has no number behind wait=", hint: "write Prefer: wait=10, in seconds", status: 400)
        }
        return min(.seconds(min(seconds, 1000)), longestPatience)
    }

    // MARK: - What came of it

    private static func answer(_ run: RunRecord, _ isRepeated: Bool, _ request: WebRequest) throws(PushError) -> WebAnswer {
        let failure = run.report.failure
        var answer: WebAnswer
        switch run.state {
        case .completed:
            answer = WebAnswer(.ok, "application/json", run.summary.serialized())
        case .queued, .running:
            answer = WebAnswer(.accepted, "application/json", run.summary.serialized())
            answer.fields[.location] = "\(request.base)/api/v1/runs/\(run.id)"
        case .skipped: throw FlowDispatcher.overlap(run)
        case .cancelled, .interrupted:
            let code = run.state == .cancelled ? "run.cancelled" : "run.interrupted"
            let isCancelled = run.state == .cancelled
            throw PushError(
                code, "\(run.id) did not come to its end: \(failure?.message ?? run.state.rawValue)",
                hint: isCancelled ? "pushhost runs rerun \(run.id) begins it again" : "ask again", status: isCancelled ? 409 : 503,
                isRetryable: !isCancelled, details: run.place)
        case .failed:
            let place = failure?.location.map { "\($0): " } ?? ""
            throw PushError(
                "run.failed",
                "\(run.flow) failed: \(place)\(failure?.message ?? "nobody knows why") (\(failure?.code ?? "")), run \(run.id)",
                hint: "pushhost runs show \(run.id) tells more", status: 500,
                details: run.place.merging(["cause": .string(failure?.code ?? "")]) { $1 })
        }
        answer.fields[.runID] = run.id
        answer.fields[.cacheControl] = "no-store"
        if isRepeated { answer.fields[.idempotencyReplayed] = "true" }
        return answer
    }
}

extension RunRecord {
    /// Where it failed, for programs.
    fileprivate var place: [String: JSON] {
        var place: [String: JSON] = ["run": .string(id)]
        place["version"] = version.map { .string($0) }
        place["location"] = report.failure?.location.map { .string($0) }
        return place
    }
}

extension HTTPField.Name {
    // A name that is made from a literal that is a token.
    static let runID = HTTPField.Name("Run-Id") ?? .server
}
