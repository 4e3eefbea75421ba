import HTTPTypes
import Synchronization

/// A stand-in for a browser's push service, and for what the browser does with a message.
///
/// It answers `POST https://updates.push.services.mozilla.com/wpush/…` as RFC 8030 and RFC 8292 demand, with the errors of
/// Mozilla's autopush. The service sees ciphertext only; the browser decrypts it (RFC 8291).
package final class WebPushSimulator: RefusingService {
    struct State: Sendable {
        var settings = WebPushSimulatorSettings()
        var messages = RateMeter(window: 60_000)
    }

    private static let largestBody = 4096
    private static let adoptedApp = "adopted"

    private let lab: PhoneLab
    private let clock: SimulatorClock
    private let random: SimulatorRandom
    let state = Mutex(State())
    package let faults: FaultScript<WebPushReason>

    /// - Parameter chance: What refusals of a share of all messages are drawn with; `random` for nil.
    package init(lab: PhoneLab, clock: SimulatorClock, random: SimulatorRandom, chance: SimulatorRandom? = nil) {
        self.lab = lab
        self.clock = clock
        self.random = random
        faults = FaultScript(random: chance ?? random)
    }

    package var hosts: Set<String> { [HandleMint.endpointHost] }

    /// Changes any of the settings.
    package func update(_ change: @Sendable (inout WebPushSimulatorSettings) -> Void) {
        state.withLock { change(&$0.settings) }
    }

    /// 201 with `Location` and the `TTL` that was granted, or a refusal.
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
        guard record.retiredAt == nil else { throw WebPushRefusal(.gone) }
        guard body.count <= Self.largestBody else { throw WebPushRefusal(.payloadTooLarge) }
        let message = try WebPushRequest(request.headerFields, bodySize: body.count)
        let now = clock.now()
        let isAdmitted = state.withLock { state in
            state.messages.admit(endpoint, now: now, limit: state.settings.messagesPerMinutePerSubscription)
        }
        guard isAdmitted else { throw WebPushRefusal(.tooManyRequests) }
        if let fault = faults.next(for: endpoint) { throw WebPushRefusal(fault.reason, retryAfter: fault.retryAfter) }
        let id = random.base64URL(24)
        lab.accept(message.parcel(id: id, body: body, for: record.subscription, now: now), for: record.phone)
        return (id, message.timeToLive)
    }

    /// Of the service as the sender has addressed it, which tokens must be meant for.
    private func origin(of request: HTTPRequest) -> String {
        let own = answers(for: request.host) ? nil : lab.address.authority(of: .browser)
        return "https://\(own ?? HandleMint.endpointHost)"
    }

    /// The subscription that a request is for.
    func endpoint(of request: HTTPRequest) -> String { origin(of: request) + (request.path ?? "") }

    /// What is known of the endpoint; nil when it is none. One of the right path may be adopted.
    private func record(of endpoint: String, origin: String) throws(WebPushRefusal) -> HandleRecord? {
        let isEndpoint = endpoint.hasPrefix("\(origin)/wpush/")
        let record =
            isEndpoint
            ? lab.record(
                of: endpoint, adoptingAs: PhoneDescription(name: endpoint, platform: .browser, app: Self.adoptedApp))
            : lab.record(of: endpoint)
        if isEndpoint, lab.isFull(isKnown: record != nil) { throw .labFull }
        return record?.platform == .browser ? record : nil
    }

    /// A subscription that was made with a key takes messages of its owner alone (RFC 8292 section 4.2); any other needs no
    /// token, but a bad one is refused all the same.
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
