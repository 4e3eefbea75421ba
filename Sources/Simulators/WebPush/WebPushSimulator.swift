package import HTTPTypes
import Synchronization

/// Simulates a browser's push service, and how the browser processes a message.
///
/// It answers `POST https://updates.push.services.mozilla.com/wpush/…` as RFC 8030 and RFC 8292 require, with the errors of Mozilla's
/// autopush. The service sees only ciphertext; the browser decrypts it (RFC 8291).
package final class WebPushSimulator: RefusingService {
    struct State: Sendable {
        var settings = WebPushSimulatorSettings()
        var messages = RateLimiter(window: 60_000)
    }

    private static let largestBody = 4096
    private static let adoptedApp = "adopted"

    private let lab: PhoneLab
    private let clock: SimulatorClock
    private let random: SimulatorRandom
    let state = Mutex(State())
    package let faults: FaultInjector<WebPushReason>

    /// - Parameter chance: Random source for faults with a share; `nil` for `random`.
    package init(lab: PhoneLab, clock: SimulatorClock, random: SimulatorRandom, chance: SimulatorRandom? = nil) {
        self.lab = lab
        self.clock = clock
        self.random = random
        faults = FaultInjector(random: chance ?? random)
    }

    package var hosts: Set<String> { [HandleGenerator.endpointHost] }

    /// Changes the settings.
    package func update(_ change: @Sendable (inout WebPushSimulatorSettings) -> Void) {
        state.withLock { change(&$0.settings) }
    }

    /// Returns 201 with `Location` and the granted `TTL`, or an error.
    package func respond(to request: HTTPRequest, body: [UInt8]) -> (response: HTTPResponse, body: [UInt8]) {
        do {
            let (id, timeToLive) = try accept(request, body: body)
            var fields = HTTPFields()
            fields.add("location", "\(origin(of: request))/m/\(id)")
            fields.add("ttl", String(timeToLive))
            return (HTTPResponse(status: .created, headerFields: fields), [])
        } catch {
            return error.answer
        }
    }

    private func accept(
        _ request: HTTPRequest, body: [UInt8]
    ) throws(WebPushRefusal) -> (id: String, timeToLive: Int64) {
        guard request.method == .post else { throw WebPushRefusal(.methodNotAllowed) }
        let (origin, endpoint) = (origin(of: request), endpoint(of: request))
        guard let record = try record(of: endpoint, origin: origin) else { throw WebPushRefusal(.notFound) }
        try authenticate(request, origin: origin, for: record.subscription)
        guard record.retiredAt == nil else { throw WebPushRefusal(.subscriptionExpired) }
        guard body.count <= Self.largestBody else { throw WebPushRefusal(.payloadTooLarge) }
        let message = try WebPushRequest(request.headerFields, bodySize: body.count)
        let now = clock.now()
        let isAdmitted = state.withLock { state in
            state.messages.admit(endpoint, now: now, limit: state.settings.messagesPerMinutePerSubscription)
        }
        guard isAdmitted else { throw WebPushRefusal(.tooManyRequests) }
        if let fault = faults.next(for: endpoint) { throw WebPushRefusal(fault.reason, retryAfter: fault.retryAfter) }
        let id = random.base64URL(24)
        let push = WebPushDeliveryRules(request: message).push(id: id, body: body, for: record.subscription, now: now)
        lab.accept(push, for: record.phone)
        return (id, message.timeToLive)
    }

    /// The origin that the sender used; the audience of its token must match it.
    private func origin(of request: HTTPRequest) -> String {
        let own = answers(for: request.host) ? nil : lab.address.authority(of: .browser)
        return "https://\(own ?? HandleGenerator.endpointHost)"
    }

    /// The subscription's endpoint.
    func endpoint(of request: HTTPRequest) -> String { origin(of: request) + (request.path ?? "") }

    /// The record of an endpoint; `nil` for an unknown one. An endpoint with a valid path may be adopted.
    private func record(of endpoint: String, origin: String) throws(WebPushRefusal) -> HandleRecord? {
        let isEndpoint = endpoint.hasPrefix("\(origin)/wpush/")
        let record =
            isEndpoint
            ? lab.record(
                of: endpoint, adoptingAs: PhoneDescription(name: endpoint, platform: .browser, app: PhoneApp(Self.adoptedApp)))
            : lab.record(of: endpoint)
        if isEndpoint, lab.isFull(isKnown: record != nil) { throw .labFull }
        return record?.platform == .browser ? record : nil
    }

    /// Checks the VAPID token. A subscription with a key requires a token signed with it (RFC 8292 section 4.2). Others require none, but
    /// an invalid one is rejected.
    private func authenticate(
        _ request: HTTPRequest, origin: String, for subscription: WebPushSubscription?
    ) throws(WebPushRefusal) {
        let applicationServerKey = subscription?.applicationServerKey
        guard let token = try WebPushToken(request.headerFields) else {
            guard applicationServerKey == nil else { throw .badToken("Missing VAPID token") }
            return
        }
        guard applicationServerKey ?? token.publicKey == token.publicKey else {
            throw WebPushRefusal(.forbidden)
        }
        try token.check(origin: origin, seconds: clock.seconds)
    }
}
