import HTTPTypes
import PushCore

/// Who may do what: reads the token of a request and finds its rule, of the hub or of the whole server.
struct HubAccess: Sendable {
    let namespace: Namespace
    let throttle: Throttle?
    /// Of test sends, for each hub.
    var testThrottle: Throttle?
    /// Whether every request may do everything.
    var isTrusted = false
    var policy = ClientPolicy()
    var credentials = CredentialServices.none
    /// Nil where nobody writes down who did what.
    var audit: AuditLog?
    /// Nil where everybody may reach any number of devices.
    var sendGuard: SendGuard?
    let proved = ProvedTokens()

    /// The hub that a request is for, when the request may do with it what it wants.
    func hub(_ name: String, _ right: AuthorizationRule.Right, _ request: WebRequest) throws(PushError) -> ServedHub {
        try caller(name, right, request).hub
    }

    /// The same, and who asks.
    func caller(_ name: String, _ right: AuthorizationRule.Right, _ request: WebRequest) throws(PushError) -> HubCaller {
        let hub = namespace.hub(name)
        let rule = try authorize(request, right, hub)
        guard let hub else { throw Self.noService }
        return HubCaller(hub: hub, rule: rule, principal: principal(rule, hub))
    }

    /// On whose behalf a request comes that a rule allows.
    /// - Parameter hub: that the rule may be of; nil for one of the server.
    func principal(_ rule: AuthorizationRule, _ hub: ServedHub?) -> Principal {
        isTrusted ? .owner : principal(ofRule: rule.name, hub)
    }

    /// What a hub asks before it takes a send; nil where the sender may reach any number of devices.
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
        // The server's rules first, as they are looked up.
        .key(name, hub: namespace.rules.contains { $0.name == name } ? nil : hub?.record.name)
    }

    /// The body of a request that was found to be allowed. It may have taken its time to come, so it must still be: not with a key
    /// that was revoked meanwhile, and not for another hub of the same name.
    func body(
        _ request: WebRequest, limit: Int, _ right: AuthorizationRule.Right, of hub: ServedHub?
    ) async throws(PushError) -> [UInt8] {
        let bytes = try await request.body.read(limit: limit)
        try recheck(request, right, hub)
        return bytes
    }

    /// Throws where a request that was allowed is so no more.
    func recheck(_ request: WebRequest, _ right: AuthorizationRule.Right, _ hub: ServedHub?) throws(PushError) {
        guard namespace.revision != request.revision else { return }
        let now = hub.flatMap { namespace.hub($0.record.name) }
        guard now?.record.number == hub?.record.number else { throw Self.noService }
        _ = try rule(of: request, right, now)
    }

    /// What concerns hubs as such: the rules of the server, and of the hub where there is one.
    /// Answers the rule that allows it.
    @discardableResult
    func authorize(
        _ request: WebRequest, _ right: AuthorizationRule.Right, _ hub: ServedHub?
    ) throws(PushError) -> AuthorizationRule {
        let rule: AuthorizationRule
        do throws(PushError) {
            rule = try self.rule(of: request, right, hub)
        } catch {
            noteRefusal(error, request, hub)
            throw error
        }
        if !isTrusted, let seconds = throttle?.wait("\(hub?.record.name ?? "") \(rule.name)", now: request.now) {
            throw Self.throttled("too many requests with this key", seconds)
        }
        return rule
    }

    /// Who signs with a good key and lacks the right is written down; who has no key is a stranger, of whom there may be any number.
    private func noteRefusal(_ error: PushError, _ request: WebRequest, _ hub: ServedHub?) {
        guard let audit, error.code == "sas.forbidden", let name = error.details[SASVerifier.rule]?.string else { return }
        let who = principal(ofRule: name, hub)
        let path = "\(request.method.rawValue) \(request.path)"
        Task { await audit.noteOften(who, .accessRefuse, path, ["why": error.message], outcome: .refused) }
    }

    private func rule(
        of request: WebRequest, _ right: AuthorizationRule.Right, _ hub: ServedHub?
    ) throws(PushError) -> AuthorizationRule {
        guard !namespace.isClosed else { throw Namespace.restoring }
        let shared = namespace.rules
        if isTrusted { return shared.first { $0.allows(.manage) } ?? Self.owner(request.now) }
        let own = hub?.record.description.rules ?? []
        // The server's rules first: a hub cannot take their names away.
        let verifier = SASVerifier(proved: proved) { name in shared.first { $0.name == name } ?? own.first { $0.name == name } }
        return try verifier.verify(
            authorization: request.fields[.authorization], host: request.authority, path: request.path, publicURL: request.base,
            right: right, now: request.now)
    }

    /// For a server that has lost its rules: its keys open nothing, for no request is compared with them.
    private static func owner(_ now: Timestamp) -> AuthorizationRule {
        AuthorizationRule(
            name: "owner", rights: Set(AuthorizationRule.Right.allCases), primaryKey: Secret(""), secondaryKey: Secret(""),
            createdAt: now, modifiedAt: now)
    }

    /// Throws where a hub has had too many test sends.
    func checkTests(_ hub: ServedHub, _ request: WebRequest) throws(PushError) {
        guard let seconds = testThrottle?.wait(hub.record.name, now: request.now) else { return }
        throw Self.throttled("too many test sends to this hub", seconds)
    }

    /// - Parameter what: there was too much of.
    static func throttled(_ what: String, _ seconds: Int) -> PushError {
        PushError(
            "hub.throttled", what, hint: "wait \(seconds) s", status: 429, isRetryable: true,
            details: ["retryAfter": .integer(Int64(seconds))])
    }

    /// The words that clients know.
    static let noService = PushError(
        "hub.not_found", "no service is hosted at the specified address", hint: "check the name of the hub", status: 404)
}
