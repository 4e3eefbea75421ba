import HTTPTypes
import PushCore

/// Speaks FCM's HTTP v1 interface ("Send a message using FCM HTTP v1 API"), for legacy bodies too.
package struct FCMConnector: Connector {
    package let platforms: Set<Platform> = [.fcmV1, .gcm]

    private let settings: FCMSettings
    private let token: FCMAccessToken
    private let transport: any PushTransport
    private let clock: any HubClock

    /// Throws `credential.invalid`.
    package init(settings: FCMSettings, transport: any PushTransport, clock: any HubClock) throws(PushError) {
        self.settings = settings
        self.transport = transport
        self.clock = clock
        token = try FCMAccessToken(settings: settings, transport: transport, clock: clock)
    }

    package func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        var message: FCMMessage
        do {
            message = try FCMMessage(body: batch.body, isLegacy: batch.platform == .gcm)
        } catch {
            return batch.refused(.malformed(error.explanation))
        }
        let limit = Platform.fcmV1.payloadLimit
        guard message.size <= limit else {
            return batch.refused(.tooLarge("PayloadTooLarge", bytes: message.size, limit: limit, service: "FCM"))
        }
        message.apply(batch.options, now: clock.now)
        let request = FCMRequest(message, settings: settings)
        return await batch.verdicts { (handle) async throws(Undelivered) in
            switch handle {
            case .fcmV1(let device), .gcm(let device): try await send(request, to: device)
            default: .rejected(.foreign(handle, to: "FCM"))
            }
        }
    }

    private func send(_ request: FCMRequest, to device: String) async throws(Undelivered) -> Verdict {
        let body = request.body(for: device)
        let credential = try await token.credential()
        let answer = try await exchange(request, body: body, credential: credential)
        guard answer.isAccessTokenRefused else { return answer.verdict }
        let renewed = try await token.credential(otherThan: credential)
        let second = try await exchange(request, body: body, credential: renewed)
        guard !second.isAccessTokenRefused else { throw Undelivered(verdict: second.verdict, isForAll: true) }
        return second.verdict
    }

    private func exchange(
        _ request: FCMRequest, body: [UInt8], credential: Credential
    ) async throws(Undelivered) -> FCMAnswer {
        FCMAnswer(try await transport.attempt(request.authorized(by: credential), body: body), now: clock.now)
    }
}
