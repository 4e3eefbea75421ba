package import PushModel

/// Sends messages with FCM's HTTP v1 interface ("Send a message using FCM HTTP v1 API"); converts legacy bodies.
package struct FCMConnector: Connector {
    package let platforms: Set<Platform> = [.fcmV1, .gcm]

    private let settings: FCMSettings
    private let token: FCMAccessToken
    private let transport: any PushBatchTransport
    private let clock: any HubClock

    /// - Parameters:
    ///   - transport: Sends messages.
    ///   - grants: Fetches access tokens.
    ///
    /// Throws `credential.invalid`.
    package init(
        settings: FCMSettings, transport: any PushBatchTransport, grants: any PushTransport, clock: any HubClock
    ) throws(PushError) {
        self.settings = settings
        self.transport = transport
        self.clock = clock
        token = try FCMAccessToken(settings: settings, transport: grants, clock: clock)
    }

    /// Sends one request at a time, over a transport without batches.
    package init(settings: FCMSettings, transport: any PushTransport, clock: any HubClock) throws(PushError) {
        try self.init(settings: settings, transport: SequentialTransport(transport), grants: transport, clock: clock)
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
        var verdicts = BatchVerdicts(batch.handles.count)
        var devices: [Device] = []
        devices.reserveCapacity(batch.handles.count)
        for (handleIndex, handle) in batch.handles.enumerated() {
            switch handle {
            case .fcmV1(let token), .gcm(let token): devices.append(Device(handleIndex: handleIndex, token: token))
            default: verdicts[handleIndex] = .rejected(.foreign(handle, to: "FCM"))
            }
        }
        await verdicts.deliver(devices, maximumConcurrency: transport.isSequential ? 1 : nil) {
            (devices, verdicts) async throws(DeliveryFailure) in
            try await send(request, to: devices, &verdicts)
        }
        return verdicts.all
    }

    private struct Device: BatchDevice {
        let handleIndex: Int
        let token: String
    }

    /// Throws if the remaining devices would fail in the same way.
    private func send(
        _ request: FCMRequest, to devices: ArraySlice<Device>, _ verdicts: inout BatchVerdicts
    ) async throws(DeliveryFailure) {
        let credential = try await token.credential()
        let messages = request.batch(to: devices.lazy.map(\.token), credential: credential)
        let handleIndexes = devices.map(\.handleIndex)
        let refused = await send(messages, of: Array(0..<messages.count), handleIndexes, &verdicts)
        guard let first = refused.first else { return }
        for index in refused { verdicts[handleIndexes[index]] = nil }
        let headers = FCMRequest.headers(try await token.credential(otherThan: credential))
        // Retry one message first. If FCM rejects the new token as well, the others are not sent.
        if await send(messages, of: [first], with: headers, handleIndexes, &verdicts).isEmpty {
            _ = await send(messages, of: Array(refused.dropFirst()), with: headers, handleIndexes, &verdicts)
        } else if let verdict = verdicts[handleIndexes[first]] {
            throw DeliveryFailure(verdict: verdict, isForAll: true)
        }
    }

    /// Sends some of the messages, records their verdicts and returns the indexes whose access token was rejected.
    private func send(
        _ messages: PushBatch, of indexes: [Int], with headers: HeaderTemplate? = nil, _ handleIndexes: [Int],
        _ verdicts: inout BatchVerdicts
    ) async -> [Int] {
        if indexes.isEmpty { return [] }
        let outcomes = await transport.send(headers.map { messages.subset(indexes, headers: $0) } ?? messages)
        var refused: [Int] = []
        for (index, outcome) in zip(indexes, outcomes) {
            verdicts[handleIndexes[index]] = outcome.verdict(over: transport, to: FCMRequest.origin) { answer in
                let response = FCMAnswer(answer.response, now: clock.now)
                if response.isAccessTokenRefused { refused.append(index) }
                return response.verdict
            }
        }
        return refused
    }
}
