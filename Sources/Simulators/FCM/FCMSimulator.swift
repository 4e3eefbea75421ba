package import CryptoExtras
package import HTTPTypes
import Synchronization

/// Simulates FCM's HTTP v1 API and its OAuth 2.0 token endpoint.
///
/// It answers `POST https://oauth2.googleapis.com/token` (RFC 7523) and `POST https://fcm.googleapis.com/v1/projects/<id>/messages:send`
/// (Google, "REST Resource: projects.messages").
package final class FCMSimulator: RefusingService {
    struct State: Sendable {
        var settings: FCMSimulatorSettings
        var grants: [String: FCMGrant] = [:]
        var messages = RateLimiter(window: 60_000)
    }

    let lab: PhoneLab
    let clock: SimulatorClock
    let random: SimulatorRandom
    let state: Mutex<State>
    package let faults: FaultInjector<FCMReason>
    package let grantFaults: FaultInjector<GrantReason>?

    /// - Parameter chance: Random source for faults with a share; `nil` for `random`.
    package init(
        lab: PhoneLab, clock: SimulatorClock, random: SimulatorRandom, settings: FCMSimulatorSettings, chance: SimulatorRandom? = nil
    ) {
        self.lab = lab
        self.clock = clock
        self.random = random
        faults = FaultInjector(random: chance ?? random)
        grantFaults = FaultInjector(random: chance ?? random)
        state = Mutex(State(settings: settings))
    }

    package var hosts: Set<String> { ["fcm.googleapis.com", "oauth2.googleapis.com"] }

    /// Registers a key of the service account; replaces a key with the same id.
    package func trust(key: _RSA.Signing.PublicKey, kid: String) {
        state.withLock { $0.settings.keys[kid] = key }
    }

    /// Deletes a key of the service account; issued access tokens remain valid.
    package func revoke(kid: String) {
        state.withLock { _ = $0.settings.keys.removeValue(forKey: kid) }
    }

    /// Invalidates all issued access tokens.
    package func revokeAccessTokens() {
        state.withLock { $0.grants = [:] }
    }

    /// Changes the settings.
    package func update(_ change: @Sendable (inout FCMSimulatorSettings) -> Void) {
        state.withLock { change(&$0.settings) }
    }

    package func respond(to request: HTTPRequest, body: [UInt8]) -> (response: HTTPResponse, body: [UInt8]) {
        isGrant(request) ? grant(request, body: body) : send(request, body: body)
    }

    /// Whether a request is for the token endpoint.
    func isGrant(_ request: HTTPRequest) -> Bool { request.path?.hasPrefix("/token") == true }

    // MARK: - Access tokens

    /// Almost an hour, in seconds.
    private static let tokenLifetime: Int64 = 3599

    /// Returns `{"access_token","expires_in":3599,"token_type":"Bearer"}`, or 400 with `error` and `error_description`.
    private func grant(_ request: HTTPRequest, body: [UInt8]) -> Answer {
        guard request.method == .post else { return (HTTPResponse(status: .methodNotAllowed), []) }
        let order: FCMTokenRequest
        do throws(GrantRefusal) {
            order = try FCMTokenRequest(
                FormBody(body), contentType: request.headerFields.first("content-type"), settings: state.withLock { $0.settings },
                seconds: clock.seconds)
        } catch {
            return error.answer
        }
        if let fault = grantFaults?.next(for: nil) { return fault.reason.answer(retryAfter: fault.retryAfter) }
        let token = "ya29.c." + random.base64URL(96)
        let now = clock.now()
        state.withLock { state in
            state.grants = state.grants.filter { $0.value.expiresAt > now }
            state.grants[token] = FCMGrant(expiresAt: now + Self.tokenLifetime * 1000, scopes: order.scopes)
        }
        return answer(
            200,
            json: JSONValue(members: [
                "access_token": .string(token), "expires_in": .number(String(Self.tokenLifetime)),
                "token_type": .string("Bearer"),
            ]))
    }

    // MARK: - Messages

    /// Returns `{"name":"projects/<id>/messages/<message id>"}`, or an error in Google's model.
    private func send(_ request: HTTPRequest, body: [UInt8]) -> Answer {
        do {
            return answer(200, json: JSONValue(members: ["name": .string(try accept(request, body: body))]))
        } catch {
            return error.answer
        }
    }

    private func accept(_ request: HTTPRequest, body: [UInt8]) throws(FCMRefusal) -> String {
        let (path, query) = request.target
        let token = request.headerFields.bearer ?? query["access_token"] ?? query["oauth_token"]
        let (settings, grant) = state.withLock { state in (state.settings, token.flatMap { state.grants[$0] }) }
        let now = clock.now()
        guard let grant, grant.expiresAt > now else { throw .unauthenticated }
        guard request.method == .post, path == "/v1/projects/\(settings.projectID)/messages:send" else {
            throw .notFound
        }
        guard grant.maySend else { throw .scopeInsufficient }
        try check(query)
        guard let text = JSONValue(body) else { throw .badSchema("", "Invalid JSON payload received.") }
        let json = try FCMRequestShape.body.read(text, at: "")
        guard let value = json["message"] else { throw .badField("message", "The message is not set.") }
        let message = try FCMMessage(value)
        let (phones, handle) = try recipients(of: message, settings: settings)
        if json["validate_only"]?.bool == true {
            return "projects/\(settings.projectID)/messages/fake_message_id"
        }
        let isAdmitted = state.withLock { state in
            state.messages.admit(settings.projectID, now: now, limit: settings.messagesPerMinute)
        }
        guard isAdmitted else { throw FCMRefusal(.quotaExceeded) }
        if let fault = faults.next(for: handle) { throw FCMRefusal(fault.reason, retryAfter: fault.retryAfter) }
        let id = "0:\(now * 1000)%\(random.hex(8))"
        let rules = FCMDeliveryRules(message: message)
        for phone in phones {
            guard let description = lab.description(of: phone),
                message.restrictedPackage ?? description.app.id == description.app.id
            else { continue }
            lab.accept(rules.push(id: id, for: description, now: now), for: phone)
        }
        return "projects/\(settings.projectID)/messages/\(id)"
    }

    /// Query parameters of all Google APIs (Google, "System Parameters"). Generated clients write them with a dollar sign.
    private static let systemParameters: Set<String> = [
        "access_token", "alt", "callback", "fields", "key", "oauth_token", "prettyPrint", "quotaUser", "upload_protocol", "uploadType",
        ".xgafv",
    ]

    private func check(_ query: FormBody) throws(FCMRefusal) {
        for name in query.names where !Self.systemParameters.contains(name.hasPrefix("$") ? String(name.dropFirst()) : name) {
            throw .badSchema(
                "",
                "Invalid JSON payload received. Unknown name \"\(name)\": Cannot bind query parameter. Field '\(name)' could not be "
                    + "found in request message.")
        }
    }

    /// The phones that the message is for, with the token if it is for a single one. A topic without subscribers is valid.
    private func recipients(
        of message: FCMMessage, settings: FCMSimulatorSettings
    ) throws(FCMRefusal) -> (phones: [PhoneID], handle: String?) {
        if lab.isOutOfMemory { throw .labFull }
        switch message.target {
        case .token(let token): return ([try phone(of: token, message, settings)], token)
        case .installation(let id):
            guard let token = lab.token(ofInstallation: id) else { throw FCMRefusal(.unregistered) }
            return ([try phone(of: token, message, settings)], token)
        case .topic(let topic):
            return (lab.subscribers(project: settings.projectID).filter { $0.topics.contains(topic) }.map(\.phone), nil)
        case .condition(let condition):
            return (lab.subscribers(project: settings.projectID).filter { condition.matches($0.topics) }.map(\.phone), nil)
        }
    }

    private func phone(
        of token: String, _ message: FCMMessage, _ settings: FCMSimulatorSettings
    ) throws(FCMRefusal) -> PhoneID {
        let stranger = PhoneDescription(name: token, platform: .fcm, app: PhoneApp(message.restrictedPackage ?? settings.projectID))
        let known = lab.record(of: token, adoptingAs: stranger)
        if lab.isFull(isKnown: known != nil) { throw .labFull }
        guard let record = known, record.platform == .fcm, record.retiredAt == nil else { throw FCMRefusal(.unregistered) }
        guard record.project ?? settings.projectID == settings.projectID else { throw FCMRefusal(.senderIDMismatch) }
        return record.phone
    }
}
