package import Crypto
package import HTTPTypes
import Synchronization

/// Simulates the APNs provider API of one environment.
///
/// It answers `POST /3/device/<token>`, broadcasts and channel requests as Apple's "Sending notification requests to APNs" and "Handling
/// notification responses from APNs" describe, and passes accepted notifications to the phones of the lab. Every request counts as a
/// separate connection; `openConnection()` returns one that remembers its key, like Apple's.
package final class APNsSimulator: RefusingService {
    struct State: Sendable {
        var settings: APNsSimulatorSettings
        /// By team.
        var updates: [String: APNsTokenUpdates] = [:]
        /// Tokens whose signature was verified with the current keys.
        var verified: [String: APNsProviderToken] = [:]
        var pushes = RateLimiter(window: 60_000)
        /// Broadcast channels by app, in the order of their creation.
        var channels: [String: [APNsChannel]] = [:]
    }

    let lab: PhoneLab
    let clock: SimulatorClock
    let random: SimulatorRandom
    let state: Mutex<State>
    package let faults: FaultInjector<APNsReason>
    package let hosts: Set<String>

    package convenience init(lab: PhoneLab, clock: SimulatorClock, random: SimulatorRandom, settings: APNsSimulatorSettings) {
        self.init(lab: lab, clock: clock, random: random, settings: settings, faults: FaultInjector(random: random))
    }

    /// - Parameter faults: Shared with the simulator of the other environment.
    init(
        lab: PhoneLab, clock: SimulatorClock, random: SimulatorRandom, settings: APNsSimulatorSettings, faults: FaultInjector<APNsReason>
    ) {
        self.lab = lab
        self.faults = faults
        self.clock = clock
        self.random = random
        state = Mutex(State(settings: settings))
        hosts =
            switch settings.environment {
            case .production: ["api.push.apple.com", "api-manage-broadcast.push.apple.com"]
            case .development:
                ["api.sandbox.push.apple.com", "api.development.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com"]
            }
    }

    /// Registers a signing key, by default of the settings' team. Replaces a key with the same id.
    ///
    /// - Parameter topics: The bundle ids that it may be used for; `nil` for those of the team.
    package func trust(
        key: P256.Signing.PublicKey, kid: String, environment: APNsEnvironment? = nil, team: String? = nil, topics: Set<String>? = nil
    ) {
        update { $0.keys[kid] = .init(publicKey: key, environment: environment, teamID: team, topics: topics) }
    }

    func trusts(kid: String) -> Bool { state.withLock { $0.settings.keys[kid] != nil } }

    /// Revokes a signing key.
    package func revoke(kid: String) {
        update { $0.keys[kid] = nil }
    }

    /// Allows the team to send to another bundle id.
    package func allow(topic: String) {
        update { $0.topics.insert(topic) }
    }

    /// Changes the settings. The hosts remain those of the first environment.
    package func update(_ change: @Sendable (inout APNsSimulatorSettings) -> Void) {
        state.withLock { state in
            change(&state.settings)
            state.verified = [:]
        }
    }

    /// Opens a connection: all its requests must have tokens of the same key.
    package func openConnection() -> APNsSimulatorConnection {
        APNsSimulatorConnection(simulator: self)
    }

    package func respond(to request: HTTPRequest, body: [UInt8]) -> (response: HTTPResponse, body: [UInt8]) {
        var sender = APNsSender()
        return respond(to: request, body: body, sender: &sender)
    }

    /// - Parameter sender: The state of the connection; updated with what the request shows.
    func respond(
        to request: HTTPRequest, body: [UInt8], sender: inout APNsSender
    ) -> (response: HTTPResponse, body: [UInt8]) {
        sender.isAuthenticated = false
        if request.path?.hasPrefix("/3/") == false {
            if let answer = APNsBroadcastEndpoint(simulator: self).respond(to: request, body: body, sender: &sender) { return answer }
        }
        let settings = state.withLock { $0.settings }
        let sentID = request.headerFields.first("apns-id")
        var fields = HTTPFields()
        do {
            try APNsRequest.checkEnvelope(request)
            let id = sentID ?? random.uuid()
            fields.add("apns-id", id)
            let allowance = try authenticate(request, settings: settings, sender: &sender)
            try accept(APNsRequest(request, allowance: allowance), id: id, body: body, settings: settings)
            if settings.environment == .development { fields.add("apns-unique-id", random.uuid()) }
            return (HTTPResponse(status: .ok, headerFields: fields), [])
        } catch {
            if fields.isEmpty {
                let isEchoed = error.reason != .badMessageID
                fields.add("apns-id", isEchoed ? sentID ?? random.uuid() : random.uuid())
            }
            return refusal(error, fields: fields)
        }
    }

    func refusal(_ refusal: APNsRefusal, fields: HTTPFields) -> (response: HTTPResponse, body: [UInt8]) {
        var fields = fields
        if let seconds = refusal.retryAfter { fields.add("retry-after", String(seconds)) }
        return answer(refusal.status, json: refusal.body, fields: fields)
    }

    /// Authenticates by the connection's certificate, or else by the request's provider token. Verified tokens are cached.
    func authenticate(
        _ request: HTTPRequest, settings: APNsSimulatorSettings, sender: inout APNsSender
    ) throws(APNsRefusal) -> APNsAllowedTopics {
        if let certificate = sender.certificate {
            try certificate.check(seconds: clock.seconds, environment: settings.environment)
            sender.isAuthenticated = true
            return certificate.allowance
        }
        let token = try authenticatedToken(request, settings: settings, sender: sender)
        (sender.teamID, sender.keyID) = (token.teamID, token.keyID)
        sender.isAuthenticated = true
        return APNsAllowedTopics(bundleIDs: token.topics ?? settings.topics)
    }

    private func authenticatedToken(
        _ request: HTTPRequest, settings: APNsSimulatorSettings, sender: APNsSender
    ) throws(APNsRefusal) -> APNsProviderToken {
        guard let text = request.headerFields.bearer else { throw APNsRefusal(.missingProviderToken) }
        let token: APNsProviderToken
        if let known = state.withLock({ $0.verified[text] }) {
            token = known
        } else {
            token = try APNsProviderToken(text, settings: settings)
        }
        let now = clock.now()
        try token.check(seconds: now / 1000, environment: settings.environment, sender: sender)
        let isAdmitted = state.withLock { state in
            // Apple counts per team, whichever of its keys signed.
            let limit = settings.tokenRules.updatesPerTwentyMinutes
            guard state.updates[token.teamID, default: APNsTokenUpdates()].admit(text, now: now, limit: limit) else { return false }
            if state.verified.count > 64 { state.verified = [:] }
            state.verified[text] = token
            return true
        }
        guard isAdmitted else { throw APNsRefusal(.tooManyProviderTokenUpdates) }
        return token
    }

    /// Checks payload and device, and passes the notification to the phone.
    private func accept(
        _ request: APNsRequest, id: String, body: [UInt8], settings: APNsSimulatorSettings
    ) throws(APNsRefusal) {
        guard !body.isEmpty else { throw APNsRefusal(.payloadEmpty) }
        guard body.count <= (request.pushType ?? .alert).payloadLimit else { throw APNsRefusal(.payloadTooLarge) }
        guard let payload = JSONValue(body), payload.members?.isEmpty == false else {
            throw APNsRefusal(.payloadEmpty)
        }
        try request.checkDeviceToken()
        let (token, now) = (request.deviceToken, clock.now())
        switch lab.deviceTokens.owner(of: token, app: request.bundleID, environment: settings.environment) {
        case .member(let member):
            guard lab.deviceTokens.admit(member, limit: settings.pushesPerMinutePerDevice) else { throw APNsRefusal(.tooManyRequests) }
            try checkFaults(for: token, now: now)
            lab.deviceTokens.count(member)
        case .phone(let record):
            guard record.platform == .apns, record.environment == settings.environment else { throw APNsRefusal(.badDeviceToken) }
            if let retiredAt = record.retiredAt { throw APNsRefusal(.unregistered, timestamp: retiredAt) }
            guard record.app == request.bundleID else { throw APNsRefusal(.deviceTokenNotForTopic) }
            let isAdmitted = state.withLock { state in
                state.pushes.admit(token, now: now, limit: settings.pushesPerMinutePerDevice)
            }
            guard isAdmitted else { throw APNsRefusal(.tooManyRequests) }
            try checkFaults(for: token, now: now)
            let strings = lab.description(of: record.phone)?.app.strings ?? [:]
            let push = APNsDeliveryRules(request: request).push(id: id, payload: payload, body: body, strings: strings, now: now)
            lab.accept(push, for: record.phone)
        case .unknown: throw APNsRefusal(.badDeviceToken)
        case .labFull: throw .labFull
        case .otherApp: throw APNsRefusal(.deviceTokenNotForTopic)
        }
    }

    /// Throws the next injected fault for this token or channel, if any.
    func checkFaults(for handle: String, now: Int64) throws(APNsRefusal) {
        guard let fault = faults.next(for: handle) else { return }
        var refusal = APNsRefusal(fault.reason, timestamp: fault.reason.status == 410 ? now : nil)
        refusal.retryAfter = fault.retryAfter
        throw refusal
    }
}
