import HTTPTypes
package import PushModel

/// Sends notifications with the Windows Push Notification Services ("Push notification service request and response headers").
package struct WNSConnector: Connector {
    package let platforms: Set<Platform> = [.wns]

    private let settings: WNSSettings
    private let token: WNSAccessToken
    private let transport: any PushTransport
    private let width: Int
    private let clock: any HubClock

    /// Creates a connector. Throws `credential.invalid`.
    ///
    /// - Parameter width: Maximum number of concurrent requests per batch. Channels rarely share a host and WNS speaks HTTP/1.1, so a batch
    ///   cannot share one connection.
    package init(settings: WNSSettings, transport: any PushTransport, width: Int = 1, clock: any HubClock) throws(PushError) {
        self.settings = settings
        self.transport = transport
        self.width = width
        self.clock = clock
        token = try WNSAccessToken(settings: settings, transport: transport, clock: clock)
    }

    package func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        let limit = Platform.wns.payloadLimit
        guard batch.body.count <= limit else {
            return batch.refused(
                .tooLarge(WNSReason.payloadTooLarge.rawValue, bytes: batch.body.count, limit: limit, service: "WNS"))
        }
        let request = WNSRequest(batch, now: clock.now)
        return await batch.verdicts(width: width, host: "WNS") { (handle) async throws(DeliveryFailure) in
            guard case .wns(let text) = handle else { return .rejected(.foreign(handle, to: "WNS")) }
            guard let channel = WebAddress(text), settings.allows(channel) else {
                return .rejected(refusal(ofChannel: text))
            }
            return try await send(request, to: channel)
        }
    }

    private func send(_ request: WNSRequest, to channel: WebAddress) async throws(DeliveryFailure) -> Verdict {
        let credential = try await token.credential()
        let answer = try await exchange(request, channel: channel, credential: credential)
        if answer.reason == .domainBlocked { throw DeliveryFailure(verdict: answer.verdict, isForAll: true) }
        guard answer.reason == .unauthorized else { return answer.verdict }
        let renewed = try await token.credential(otherThan: credential)
        let second = try await exchange(request, channel: channel, credential: renewed)
        guard second.reason != .unauthorized else { throw DeliveryFailure(verdict: second.verdict, isForAll: true) }
        return second.verdict
    }

    private func exchange(
        _ request: WNSRequest, channel: WebAddress, credential: Credential
    ) async throws(DeliveryFailure) -> WNSAnswer {
        let message = request.addressed(to: channel, credential: credential)
        return WNSAnswer(try await transport.attempt(message, body: request.body), now: clock.now)
    }

    /// The rejection of a channel on a host that is not allowed: the request would send the access token there.
    private func refusal(ofChannel text: String) -> Rejection {
        let host = WebAddress(text)?.host.excerpt
        return Rejection(
            status: 0, reason: "BadChannel",
            explanation: "the channel \(host.map { "on \($0) " } ?? "")is not a WNS channel; allowed are https URIs on "
                + settings.channelHosts.joined(separator: ", "),
            outcome: .badChannel)
    }
}
