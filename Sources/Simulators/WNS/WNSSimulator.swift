package import HTTPTypes
import Synchronization

/// Simulates the Windows Push Notification Services and their token endpoint.
///
/// It answers `POST https://login.live.com/accesstoken.srf` and POST to the channel URIs of the lab's phones (Microsoft, "Push notification
/// service request and response headers").
package final class WNSSimulator: RefusingService {
    struct State: Sendable {
        var settings: WNSSimulatorSettings
        /// Access tokens with their package and their expiry in milliseconds since 1970.
        var tokens: [String: (packageSID: String, expiresAt: Int64)] = [:]
        var pushes = RateLimiter(window: 60_000)
    }

    let lab: PhoneLab
    let clock: SimulatorClock
    let random: SimulatorRandom
    let state: Mutex<State>
    package let faults: FaultInjector<WNSReason>
    package let grantFaults: FaultInjector<GrantReason>?

    /// - Parameter chance: Random source for faults with a share; `nil` for `random`.
    package init(
        lab: PhoneLab, clock: SimulatorClock, random: SimulatorRandom, settings: WNSSimulatorSettings, chance: SimulatorRandom? = nil
    ) {
        self.lab = lab
        self.clock = clock
        self.random = random
        faults = FaultInjector(random: chance ?? random)
        grantFaults = FaultInjector(random: chance ?? random)
        state = Mutex(State(settings: settings))
    }

    package var hosts: Set<String> { ["login.live.com", HandleGenerator.channelHost] }

    /// Channels may be on other hosts of WNS as well, but are unknown until adopted.
    package func answers(for host: String) -> Bool { hosts.contains(host) || host.hasSuffix(".notify.windows.com") }

    /// Changes the client secret; issued access tokens remain valid.
    package func trust(clientSecret: String) {
        state.withLock { $0.settings.clientSecret = clientSecret }
    }

    /// Invalidates all issued access tokens.
    package func revokeAccessTokens() {
        state.withLock { $0.tokens = [:] }
    }

    /// Changes the settings.
    package func update(_ change: @Sendable (inout WNSSimulatorSettings) -> Void) {
        state.withLock { change(&$0.settings) }
    }

    package func respond(to request: HTTPRequest, body: [UInt8]) -> (response: HTTPResponse, body: [UInt8]) {
        isGrant(request) ? grant(request, body: body) : push(request, body: body)
    }

    /// Whether a request is for the token endpoint.
    func isGrant(_ request: HTTPRequest) -> Bool { request.path?.hasPrefix("/accesstoken.srf") == true }

    // MARK: - Access tokens

    /// One day, in seconds.
    private static let tokenLifetime: Int64 = 86400

    /// Returns `{"token_type":"bearer","access_token","expires_in":86400}`, or 400 with `error` and `error_description`.
    private func grant(_ request: HTTPRequest, body: [UInt8]) -> Answer {
        guard request.method == .post else { return (HTTPResponse(status: .methodNotAllowed), []) }
        let order: WNSTokenRequest
        do throws(GrantRefusal) {
            order = try WNSTokenRequest(
                FormBody(body), contentType: request.headerFields.first("content-type"), settings: state.withLock { $0.settings })
        } catch {
            return error.answer
        }
        if let fault = grantFaults?.next(for: nil) { return fault.reason.answer(retryAfter: fault.retryAfter) }
        let token = "EgA" + random.base64URL(96)
        let now = clock.now()
        state.withLock { state in
            state.tokens = state.tokens.filter { $0.value.expiresAt > now }
            state.tokens[token] = (order.packageSID, now + Self.tokenLifetime * 1000)
        }
        return answer(
            200,
            json: JSONValue(members: [
                "token_type": .string("bearer"), "access_token": .string(token),
                "expires_in": .number(String(Self.tokenLifetime)),
            ]))
    }

    // MARK: - Notifications

    /// 30 days, in milliseconds.
    private static let channelLifetime: Int64 = 30 * 24 * 3_600_000

    /// Returns 200 with `X-WNS-Status`, or an error with `X-WNS-Error-Description`; the body is always empty.
    private func push(_ request: HTTPRequest, body: [UInt8]) -> Answer {
        var fields = HTTPFields()
        fields.add("x-wns-msg-id", random.hex(8).uppercased())
        fields.add("x-wns-debug-trace", "DB5WNS0001")
        if let vector = request.headerFields.first("ms-cv") { fields.add("ms-cv", vector) }
        do {
            let id = fields.first("x-wns-msg-id") ?? ""
            try accept(request, body: body, id: id, fields: &fields)
            return (HTTPResponse(status: .ok, headerFields: fields), [])
        } catch {
            fields.add("x-wns-error-description", error.description)
            switch error.reason {
            case .unauthorized: fields.add("www-authenticate", "Bearer")
            case .methodNotAllowed: fields.add("allow", "POST")
            default: break
            }
            if let seconds = error.retryAfter { fields.add("retry-after", String(seconds)) }
            return (HTTPResponse(status: .init(code: error.status), headerFields: fields), [])
        }
    }

    /// The channel URI of a request.
    func channel(of request: HTTPRequest) -> String {
        let own = answers(for: request.host) ? nil : lab.address.authority(of: .wns)
        return "https://\(own ?? request.host)\(request.path ?? "")"
    }

    /// The record of a channel; `nil` for an unknown one. A channel with a token may be adopted.
    private func record(of channel: String, app: String) throws(WNSRefusal) -> HandleRecord? {
        let own = lab.address.authority(of: .wns)
        let isChannel = channel.contains(".notify.windows.com/?token=") || own.map { channel.hasPrefix("https://\($0)/?token=") } == true
        let record =
            isChannel
            ? lab.record(of: channel, adoptingAs: PhoneDescription(name: channel, platform: .wns, app: PhoneApp(app)))
            : lab.record(of: channel)
        if isChannel, lab.isFull(isKnown: record != nil) { throw .labFull }
        return record?.platform == .wns ? record : nil
    }

    private func accept(
        _ request: HTTPRequest, body: [UInt8], id: String, fields: inout HTTPFields
    ) throws(WNSRefusal) {
        let now = clock.now()
        guard request.method == .post else { throw WNSRefusal(.methodNotAllowed) }
        let bearer = request.headerFields.bearer
        let (settings, token) = state.withLock { state in (state.settings, bearer.flatMap { state.tokens[$0] }) }
        guard let token, token.expiresAt > now else { throw WNSRefusal(.unauthorized) }
        let channel = channel(of: request)
        guard let record = try record(of: channel, app: settings.appName) else { throw WNSRefusal(.notFound) }
        guard record.app == settings.appName, token.packageSID == settings.packageSID else {
            throw WNSRefusal(.forbidden)
        }
        guard record.retiredAt == nil, now - record.issuedAt < Self.channelLifetime else { throw WNSRefusal(.channelExpired) }
        let notification = try WNSRequest(request.headerFields, bodySize: body.count)
        guard body.count <= 5000 else { throw WNSRefusal(.tooLarge) }
        let (isAdmitted, isChannelAdmitted) = state.withLock { state in
            guard state.pushes.admit("", now: now, limit: settings.pushesPerMinute) else { return (false, false) }
            return (true, state.pushes.admit(channel, now: now, limit: settings.pushesPerMinutePerChannel))
        }
        guard isAdmitted else { throw WNSRefusal(.throttled) }
        guard let phone = lab.description(of: record.phone) else { throw WNSRefusal(.channelExpired) }
        let due = faults.next(for: channel)
        let fault = due?.reason ?? (isChannelAdmitted ? nil : .channelThrottled)
        if let fault, fault.status != 200 { throw WNSRefusal(fault, retryAfter: due?.retryAfter) }
        let isOnline = lab.isOnline(record.phone) && fault != .disconnected
        if notification.asksForStatus {
            fields.add("x-wns-deviceconnectionstatus", isOnline ? "connected" : "disconnected")
        }
        if let fault { return fields.add("x-wns-status", fault == .channelThrottled ? fault.rawValue : "dropped") }
        let push = WNSDeliveryRules(request: notification).push(id: id, body: body, for: phone, now: now)
        fields.add("x-wns-status", isOnline || push.storagePolicy != nil ? "received" : "dropped")
        lab.accept(push, for: record.phone)
    }
}
