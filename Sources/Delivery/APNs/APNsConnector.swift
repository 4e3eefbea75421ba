import HTTPTypes
import PushCore

/// Speaks Apple's provider API over HTTP/2 ("Sending notification requests to APNs").
package struct APNsConnector: Connector {
    package let platforms: Set<Platform> = [.apns]

    private let settings: APNsSettings
    private let token: APNsProviderToken
    private let transport: any PushTransport
    private let clock: any HubClock
    private let random: any RandomSource

    /// `token` is shared by all connectors of one team and key; without it the connector has its own. Throws
    /// `credential.invalid`.
    package init(
        settings: APNsSettings, transport: any PushTransport, clock: any HubClock, random: any RandomSource,
        token: APNsProviderToken? = nil
    ) throws(PushError) {
        self.settings = settings
        self.token = if let token { token } else { try APNsProviderToken(settings: settings, clock: clock) }
        self.transport = transport
        self.clock = clock
        self.random = random
    }

    package func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        let request = APNsRequest(batch, settings: settings, now: clock.now)
        let limit = (request.pushType ?? .alert).payloadLimit
        guard request.body.count <= limit else {
            return batch.refused(
                .tooLarge(APNsReason.payloadTooLarge.rawValue, bytes: request.body.count, limit: limit, service: "APNs")
            )
        }
        return await batch.verdicts { (handle) async throws(Undelivered) in
            guard case .apns(let device) = handle else { return .rejected(.foreign(handle, to: "APNs")) }
            return try await send(request, to: device)
        }
    }

    private func send(_ request: APNsRequest, to device: String) async throws(Undelivered) -> Verdict {
        let id = request.id(random: random)
        let credential = try await token.credential()
        let answer = try await exchange(request, device: device, id: id, credential: credential)
        guard answer.reason == .expiredProviderToken,
            let replacement = try await token.replacement(for: credential)
        else { return answer.verdict }
        return try await exchange(request, device: device, id: id, credential: replacement).verdict
    }

    /// The same id every time, so that a device shows a notification once.
    private func exchange(
        _ request: APNsRequest, device: String, id: String, credential: Credential
    ) async throws(Undelivered) -> APNsAnswer {
        let message = request.addressed(to: device, id: id, credential: credential)
        return APNsAnswer(try await transport.attempt(message, body: request.body), id: id, now: clock.now)
    }
}
