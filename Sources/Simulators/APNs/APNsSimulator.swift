import Crypto
import HTTPTypes
import Synchronization

/// A stand-in for the APNs provider API with token authentication.
///
/// It answers `POST /3/device/<token>` as Apple's "Sending notification requests to APNs" and "Handling notification
/// responses from APNs" describe, and hands accepted notifications to the phones of the lab. Every request counts as a
/// connection of its own; `openConnection()` gives one that remembers its key, as Apple's do.
package final class APNsSimulator: RefusingService {
    struct State: Sendable {
        var settings: APNsSimulatorSettings
        var updates = APNsTokenUpdates()
        /// Tokens whose signature was found good with the present keys.
        var verified: [String: APNsProviderToken] = [:]
        var pushes = RateMeter(window: 60_000)
    }

    private let lab: PhoneLab
    private let clock: SimulatorClock
    private let random: SimulatorRandom
    let state: Mutex<State>
    package let faults = FaultScript<APNsReason>()
    package let hosts: Set<String>

    package init(lab: PhoneLab, clock: SimulatorClock, random: SimulatorRandom, settings: APNsSimulatorSettings) {
        self.lab = lab
        self.clock = clock
        self.random = random
        state = Mutex(State(settings: settings))
        hosts =
            switch settings.environment {
            case .production: ["api.push.apple.com"]
            case .development: ["api.sandbox.push.apple.com", "api.development.push.apple.com"]
            }
    }

    /// Registers a signing key with the team; a key of the same id is replaced.
    package func trust(key: P256.Signing.PublicKey, kid: String, environment: APNsEnvironment? = nil) {
        update { $0.keys[kid] = .init(publicKey: key, environment: environment) }
    }

    /// Revokes a signing key.
    package func revoke(kid: String) {
        update { $0.keys[kid] = nil }
    }

    /// Lets the team send to one more bundle id.
    package func allow(topic: String) {
        update { $0.topics.insert(topic) }
    }

    /// Changes any of the settings; the hosts stay those of the first environment.
    package func update(_ change: @Sendable (inout APNsSimulatorSettings) -> Void) {
        state.withLock { state in
            change(&state.settings)
            state.verified = [:]
        }
    }

    /// A connection: all its requests must bear tokens of one key.
    package func openConnection() -> APNsSimulatorConnection {
        APNsSimulatorConnection(simulator: self)
    }

    package func handle(_ request: HTTPRequest, body: [UInt8]) async -> (response: HTTPResponse, body: [UInt8]) {
        respond(to: request, body: body, connectionKey: nil).answer
    }

    /// - Parameter connectionKey: The key id of the connection's first accepted token.
    /// - Returns: The answer, and the key id of the request's token once it was found good.
    func respond(
        to request: HTTPRequest, body: [UInt8], connectionKey: String?
    ) -> (answer: (response: HTTPResponse, body: [UInt8]), key: String?) {
        let settings = state.withLock { $0.settings }
        let sentID = request.headerFields.first("apns-id")
        var fields = HTTPFields()
        var key: String?
        do {
            try APNsRequest.checkEnvelope(request)
            let id = sentID ?? random.uuid()
            fields.add("apns-id", id)
            key = try authenticate(request, settings: settings, connectionKey: connectionKey)
            try accept(APNsRequest(request, topics: settings.topics), id: id, body: body, settings: settings)
            if settings.environment == .development { fields.add("apns-unique-id", random.uuid()) }
            return ((HTTPResponse(status: .ok, headerFields: fields), []), key)
        } catch {
            if fields.isEmpty {
                let isEchoed = error.reason != .badMessageID
                fields.add("apns-id", isEchoed ? sentID ?? random.uuid() : random.uuid())
            }
            return (answer(error.reason.status, json: error.body, fields: fields), key)
        }
    }

    /// Checks the provider token and returns its key id; a token that was verified before is not verified again.
    private func authenticate(
        _ request: HTTPRequest, settings: APNsSimulatorSettings, connectionKey: String?
    ) throws(APNsRefusal) -> String {
        guard let text = request.headerFields.bearer else { throw APNsRefusal(.missingProviderToken) }
        let token: APNsProviderToken
        if let known = state.withLock({ $0.verified[text] }) {
            token = known
        } else {
            token = try APNsProviderToken(text, settings: settings)
        }
        let now = clock.now()
        try token.check(seconds: now / 1000, environment: settings.environment, connectionKey: connectionKey)
        let isAdmitted = state.withLock { state in
            guard state.updates.admit(text, now: now, limit: settings.tokenUpdatesPerTwentyMinutes) else {
                return false
            }
            if state.verified.count > 64 { state.verified = [:] }
            state.verified[text] = token
            return true
        }
        guard isAdmitted else { throw APNsRefusal(.tooManyProviderTokenUpdates) }
        return token.keyID
    }

    /// What is known of the device token; nil when it is none of this environment. One that devices could have, 32 bytes or
    /// more, may be adopted.
    private func record(of request: APNsRequest, environment: APNsEnvironment) -> HandleRecord? {
        let token = request.deviceToken
        let record =
            (64...200).contains(token.utf8.count)
            ? lab.record(
                of: token,
                adoptingAs: PhoneDescription(name: token, platform: .apns, app: request.bundleID, environment: environment))
            : lab.record(of: token)
        guard let record, record.platform == .apns, record.environment == environment else { return nil }
        return record
    }

    /// Checks the payload and the device, and hands the notification to the phone.
    private func accept(
        _ request: APNsRequest, id: String, body: [UInt8], settings: APNsSimulatorSettings
    ) throws(APNsRefusal) {
        guard !body.isEmpty else { throw APNsRefusal(.payloadEmpty) }
        guard body.count <= (request.pushType ?? .alert).payloadLimit else { throw APNsRefusal(.payloadTooLarge) }
        guard let payload = JSONValue(body), payload.members?.isEmpty == false else {
            throw APNsRefusal(.payloadEmpty)
        }
        try request.checkDeviceToken()
        guard let record = record(of: request, environment: settings.environment) else { throw APNsRefusal(.badDeviceToken) }
        if let retiredAt = record.retiredAt { throw APNsRefusal(.unregistered, timestamp: retiredAt) }
        guard record.app == request.bundleID else { throw APNsRefusal(.deviceTokenNotForTopic) }
        let now = clock.now()
        let isAdmitted = state.withLock { state in
            state.pushes.admit(request.deviceToken, now: now, limit: settings.pushesPerMinutePerDevice)
        }
        guard isAdmitted else { throw APNsRefusal(.tooManyRequests) }
        if let fault = faults.next(for: request.deviceToken) {
            throw APNsRefusal(fault, timestamp: fault.status == 410 ? now : nil)
        }
        let strings = lab.description(of: record.phone)?.strings ?? [:]
        lab.accept(
            request.parcel(id: id, payload: payload, body: body, strings: strings, now: now), for: record.phone)
    }
}
