import HTTPTypes
import PushCore

/// Speaks Web Push to whatever service a browser has subscribed with (RFC 8030, RFC 8291, RFC 8292).
package struct WebPushConnector: Connector {
    package let platforms: Set<Platform> = [.browser]

    private let settings: WebPushSettings
    private let vapid: WebPushVAPID
    private let transport: any PushTransport
    private let clock: any HubClock
    private let random: any RandomSource

    /// `random` gives the keys of every message: outside of a rehearsal it must be fit for that. Throws
    /// `credential.invalid`.
    package init(
        settings: WebPushSettings, transport: any PushTransport, clock: any HubClock, random: any RandomSource
    ) throws(PushError) {
        self.settings = settings
        vapid = try WebPushVAPID(settings: settings, clock: clock)
        self.transport = transport
        self.clock = clock
        self.random = random
    }

    package func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        let limit = Platform.browser.payloadLimit
        guard batch.body.count <= limit else {
            return batch.refused(
                .tooLarge(
                    WebPushReason.payloadTooLarge.rawValue, bytes: batch.body.count, limit: limit, service: "Web Push"))
        }
        let request = WebPushRequest(batch, now: clock.now)
        return await batch.verdicts { (handle) async throws(Undelivered) in
            guard case .browser(let text, let p256dh, let auth) = handle else {
                return .rejected(.foreign(handle, to: "Web Push"))
            }
            guard let endpoint = WebAddress(text), settings.allows(endpoint) else {
                return .rejected(refusal(ofEndpoint: text))
            }
            guard let recipient = WebPushRecipient(p256dh: p256dh, auth: auth) else { return .rejected(Self.badKeys) }
            guard let body = try? WebPushEncryption.seal(batch.body, for: recipient, random: random) else {
                return .rejected(Self.encryptionFailed)
            }
            let message = request.addressed(
                to: endpoint, authorization: try await vapid.authorization(for: endpoint.origin), size: body.count)
            return WebPushAnswer(try await transport.attempt(message, body: body), now: clock.now).verdict
        }
    }

    private func refusal(ofEndpoint text: String) -> Rejection {
        let host = WebAddress(text)?.host.excerpt
        return Rejection(
            status: 0, reason: "BadEndpoint",
            explanation: "the endpoint \(host.map { "on \($0) " } ?? "")is not an https URI on a public host; allow its "
                + "origin in the settings if it is meant",
            outcome: .badChannel)
    }

    private static let badKeys = Rejection(
        status: 0, reason: "BadKeys",
        explanation: "the subscription's p256dh is not a P-256 key, or auth not a secret of 16 bytes; the web app must "
            + "subscribe anew",
        outcome: .badChannel)

    private static let encryptionFailed = Rejection(
        status: 0, reason: "EncryptionFailed",
        explanation: "no key could be made for the message; check this machine's source of randomness",
        outcome: .unknownError)
}
