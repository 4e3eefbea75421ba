import HTTPTypes
import PushCore

/// Speaks Apple's provider API over HTTP/2 ("Sending notification requests to APNs").
package struct APNsConnector: Connector {
    package let platforms: Set<Platform> = [.apns]

    private let settings: APNsSettings
    /// Nil with a certificate.
    private let token: APNsProviderToken?
    private let transport: any PushTransport
    private let clock: any HubClock
    private let random: any RandomSource

    /// `token` is shared by all connectors of one team and key; without it the connector has its own. With a certificate there is
    /// none, and `transport` must show it. Throws `credential.invalid`.
    package init(
        settings: APNsSettings, transport: any PushTransport, clock: any HubClock, random: any RandomSource,
        token: APNsProviderToken? = nil
    ) throws(PushError) {
        self.settings = settings
        self.token =
            if settings.certificate != nil { nil } else if let token { token } else {
                try APNsProviderToken(settings: settings, clock: clock)
            }
        self.transport = transport
        self.clock = clock
        self.random = random
    }

    package func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        let request = APNsRequest(batch, settings: settings, now: clock.now)
        if let refusal = request.refusal ?? Self.broadcastFault(request, batch) { return batch.refused(refusal) }
        return await batch.verdicts { (handle) async throws(Undelivered) in
            guard case .apns(let device) = handle else { return .rejected(.foreign(handle, to: "APNs")) }
            return try await send(request, to: device)
        }
    }

    private func send(_ request: APNsRequest, to device: String) async throws(Undelivered) -> Verdict {
        let id = request.id(random: random)
        let credential = try await token?.credential()
        let answer = try await exchange(request, device: device, id: id, credential: credential)
        guard answer.reason == .expiredProviderToken, let token, let credential,
            let replacement = try await token.replacement(for: credential)
        else { return answer.verdict }
        return try await exchange(request, device: device, id: id, credential: replacement).verdict
    }

    /// The same id every time, so that a device shows a notification once.
    private func exchange(
        _ request: APNsRequest, device: String, id: String, credential: Credential?
    ) async throws(Undelivered) -> APNsAnswer {
        let message = request.addressed(to: device, id: id, credential: credential)
        return APNsAnswer(try await transport.attempt(message, body: request.body), id: id, now: clock.now)
    }

    /// A broadcast is one request, whoever has subscribed; to devices it would go once for each of them.
    private static func broadcastFault(_ request: APNsRequest, _ batch: DeliveryBatch) -> Rejection? {
        guard let channel = request.channel, batch.handles != [DeviceHandle.apns(channel: channel)] else { return nil }
        let reason = APNsReason.badChannelID
        return Rejection(
            status: 0, reason: reason.rawValue,
            explanation: "apns-channel-id goes with a direct send to that channel, and not with tags or device tokens",
            outcome: reason.outcome)
    }
}
