import HTTPTypes
import PushHub
import PushModel

/// Authorizes requests: verifies the token and finds its rule, of the hub or of the server.
struct HubAccess: Sendable {
    let namespace: Namespace
    let throttle: Throttle?
    /// Limits test sends per hub.
    var testThrottle: Throttle?
    /// Whether every request is allowed everything.
    var isTrusted = false
    var policy = ClientPolicy()
    /// Nil if there is no audit log.
    var audit: AuditLog?
    /// Nil if no send requires approval.
    var sendGuard: SendGuard?
    let proved = VerifiedTokenCache()

    /// Returns the hub of a request that has the right.
    func hub(_ name: String, _ right: AuthorizationRule.Right, _ request: WebRequest) throws(PushError) -> ServedHub {
        try caller(name, right, request).hub
    }

    /// Returns the hub and the caller of a request that has the right.
    func caller(_ name: String, _ right: AuthorizationRule.Right, _ request: WebRequest) throws(PushError) -> HubCaller {
        let hub = namespace.hub(name)
        let rule = try authorize(request, right, hub)
        guard let hub else { throw Self.hubNotFound }
        return HubCaller(hub: hub, rule: rule, principal: principal(rule, hub))
    }

    /// The principal of an authorized request.
    /// - Parameter hub: The hub that the rule may belong to; nil for a rule of the server.
    func principal(_ rule: AuthorizationRule, _ hub: ServedHub?) -> Principal {
        isTrusted ? .owner : principal(ofRule: rule.name, hub)
    }

    /// The admission check of a send; nil if no send requires approval.
    func admission(
        of principal: Principal, _ rule: AuthorizationRule, to hub: ServedHub, _ request: WebRequest, note: String?
    ) -> SendAdmission? {
        sendGuard?.admission(
            SendGuard.Sender(
                principal, ceiling: isTrusted ? nil : rule.ceiling,
                hub: Approval.Hub(number: hub.record.number, name: hub.record.name),
                idempotencyKey: request.fields[.idempotencyKey], note: note))
    }

    private func principal(ofRule name: String, _ hub: ServedHub?) -> Principal {
        // Look up the server's rules first, as authorization does.
        .key(name, hub: namespace.rules.contains { $0.name == name } ? nil : hub?.record.name)
    }

    /// Reads the body of an authorized request and authorizes it again, because reading may take long: the key may have been revoked and
    /// the hub replaced in the meantime.
    func body(
        _ request: WebRequest, limit: Int, _ right: AuthorizationRule.Right, of hub: ServedHub?
    ) async throws(PushError) -> [UInt8] {
        let bytes = try await request.body.read(limit: limit)
        try recheck(request, right, hub)
        return bytes
    }

    /// Throws if an authorized request is no longer allowed.
    func recheck(
        _ request: WebRequest, _ right: AuthorizationRule.Right, _ hub: ServedHub?, acceptsKey: Bool = false
    ) throws(PushError) {
        guard namespace.revision != request.receipt.revision else { return }
        let now = hub.flatMap { namespace.hub($0.record.name) }
        guard now?.record.number == hub?.record.number else { throw Self.hubNotFound }
        _ = try rule(of: request, right, now, acceptsKey)
    }

    /// Authorizes a request with the server's rules and, if the hub exists, the hub's. Returns the rule.
    /// - Parameter acceptsKey: Whether the key itself is accepted as a bearer token, instead of a token that it signed.
    @discardableResult
    func authorize(
        _ request: WebRequest, _ right: AuthorizationRule.Right, _ hub: ServedHub?, acceptsKey: Bool = false
    ) throws(PushError) -> AuthorizationRule {
        let rule: AuthorizationRule
        do throws(PushError) {
            rule = try self.rule(of: request, right, hub, acceptsKey)
        } catch {
            noteRefusal(error, request, hub)
            throw error
        }
        if !isTrusted, let seconds = throttle?.wait("\(hub?.record.name ?? "") \(rule.name)", now: request.now) {
            throw Self.throttled("too many requests with this key", seconds)
        }
        return rule
    }

    /// Writes an audit entry if a valid key lacks the right. Requests without a valid key are not recorded, because anyone can send them.
    private func noteRefusal(_ error: PushError, _ request: WebRequest, _ hub: ServedHub?) {
        guard let audit, error.code == "sas.forbidden", let name = error.details[SASVerifier.rule]?.string else { return }
        let who = principal(ofRule: name, hub)
        let path = "\(request.method.rawValue) \(request.path)"
        Task { await audit.noteOften(who, .accessRefuse, path, ["why": error.message], outcome: .refused) }
    }

    private func rule(
        of request: WebRequest, _ right: AuthorizationRule.Right, _ hub: ServedHub?, _ acceptsKey: Bool
    ) throws(PushError) -> AuthorizationRule {
        guard !namespace.isClosed else { throw Namespace.restoring }
        let shared = namespace.rules
        if isTrusted { return shared.first { $0.allows(.manage) } ?? Self.owner(request.now) }
        let own = hub?.record.description.rules ?? []
        // The server's rules come first: a hub cannot take over their names.
        if acceptsKey, let key = BearerKey(authorization: request.fields[.authorization]) {
            return try SASVerifier.check(try key.rule(among: shared + own), has: right)
        }
        let verifier = SASVerifier(proved: proved) { name in shared.first { $0.name == name } ?? own.first { $0.name == name } }
        return try verifier.verify(
            authorization: request.fields[.authorization], host: request.server.authority, path: request.path,
            publicURL: request.server.base,
            right: right, now: request.now)
    }

    /// A rule for a server without rules. Its empty keys are never compared with a request.
    private static func owner(_ now: Timestamp) -> AuthorizationRule {
        AuthorizationRule(
            name: "owner", rights: Set(AuthorizationRule.Right.allCases), primaryKey: Secret(""), secondaryKey: Secret(""),
            createdAt: now, modifiedAt: now)
    }

    /// Throws if the hub has had too many test sends.
    func checkTests(_ hub: ServedHub, _ request: WebRequest) throws(PushError) {
        guard let seconds = testThrottle?.wait(hub.record.name, now: request.now) else { return }
        throw Self.throttled("too many test sends to this hub", seconds)
    }

    /// - Parameter what: What exceeded its limit.
    static func throttled(_ what: String, _ seconds: Int) -> PushError {
        PushError(
            "hub.throttled", what, hint: "wait \(seconds) s", status: 429, isRetryable: true,
            details: ["retryAfter": .integer(Int64(seconds))])
    }

    /// The message that clients expect.
    static let hubNotFound = PushError(
        "hub.not_found", "no service is hosted at the specified address", hint: "check the name of the hub", status: 404)
}

extension AuthorizationRule.Right {
    /// The right of rules that a flow or a plugin's route requires.
    init(_ right: SASRight) {
        self =
            switch right {
            case .listen: .listen
            case .send: .send
            case .manage: .manage
            }
    }
}
