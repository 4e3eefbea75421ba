import HTTPTypes
package import PushModel

/// Sends notifications with Apple's provider API over HTTP/2 ("Sending notification requests to APNs").
package struct APNsConnector: Connector {
    package let platforms: Set<Platform> = [.apns]

    private let settings: APNsSettings
    /// `nil` with certificate authentication.
    private let token: APNsProviderToken?
    private let transport: any PushBatchTransport
    private let clock: any HubClock

    /// Creates a connector. All connectors of one team and key share one `token`; without it the connector creates its own. It is not used
    /// with a certificate. Throws `credential.invalid`.
    package init(
        settings: APNsSettings, transport: any PushBatchTransport, clock: any HubClock,
        token: APNsProviderToken? = nil
    ) throws(PushError) {
        self.settings = settings
        self.token =
            if settings.certificate != nil { nil } else if let token { token } else {
                try APNsProviderToken(settings: settings, clock: clock)
            }
        self.transport = transport
        self.clock = clock
    }

    /// Sends one request at a time, over a transport without batches.
    package init(
        settings: APNsSettings, transport: any PushTransport, clock: any HubClock,
        token: APNsProviderToken? = nil
    ) throws(PushError) {
        try self.init(settings: settings, transport: SequentialTransport(transport), clock: clock, token: token)
    }

    package func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        if Task.isCancelled { return batch.handles.map { _ in .transient(.abandoned, retryAfter: nil) } }
        let request = APNsRequest(batch, settings: settings, now: clock.now)
        if let refusal = request.refusal ?? Self.broadcastRejection(request, batch) { return batch.refused(refusal) }
        var refusals: [Int: Rejection] = [:]
        var tokens: [String] = []
        tokens.reserveCapacity(batch.handles.count)
        for (index, handle) in batch.handles.enumerated() {
            if case .apns(let token) = handle, Self.isSendable(token) {
                tokens.append(token)
            } else {
                refusals[index] = Self.refusal(handle)
            }
        }
        let verdicts = tokens.isEmpty ? [] : await send(request, to: tokens, of: batch.notificationID)
        if refusals.isEmpty { return verdicts }
        var rest = verdicts[...]
        return batch.handles.indices.compactMap { index in refusals[index].map { .rejected($0) } ?? rest.popFirst() }
    }

    /// Whether the token fits into a request path. APNs itself decides whether it is valid.
    private static func isSendable(_ token: String) -> Bool {
        !token.isEmpty && token.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }

    /// The rejection of a handle that no request can be made for.
    private static func refusal(_ handle: DeviceHandle) -> Rejection {
        guard case .apns = handle else { return .foreign(handle, to: "APNs") }
        return Rejection(
            status: 0, reason: APNsReason.badDeviceToken.rawValue, explanation: APNsReason.badDeviceToken.explanation,
            outcome: APNsReason.badDeviceToken.outcome)
    }

    private func send(_ request: APNsRequest, to tokens: [String], of notificationID: String) async -> [Verdict] {
        let credential: Credential?
        do throws(DeliveryFailure) {
            credential = try await token?.credential()
        } catch {
            return Array(repeating: error.verdict, count: tokens.count)
        }
        let pushes = pushes(request, to: tokens, of: notificationID, credential: credential)
        guard let token, let credential, pushes.count > Self.trialSize, !token.hasBeenAccepted(credential) else {
            return await verdicts(of: pushes, request, credential)
        }
        let trial = await verdicts(of: pushes.part(0..<Self.trialSize), request, credential)
        if let block = trial.last, trial.allSatisfy(\.isCredentialBlock) {
            return trial + Array(repeating: block.notTried, count: pushes.count - trial.count)
        }
        return trial + (await verdicts(of: pushes.part(trial.count..<pushes.count), request, credential))
    }

    /// Number of pushes of a batch that are sent first while APNs has not accepted the provider token yet. APNs rejects a token for every
    /// device if the team has used too many, so the rest of the batch would only add requests.
    private static let trialSize = 5

    private func verdicts(of pushes: PushBatch, _ request: APNsRequest, _ credential: Credential?) async -> [Verdict] {
        let outcomes = await transport.send(pushes)
        var verdicts: [Verdict] = []
        var expired: [Int] = []
        verdicts.reserveCapacity(pushes.count)
        for (index, outcome) in outcomes.enumerated() {
            verdicts.append(verdict(outcome, ownID: pushes.id(index), request))
            if case .rejected(let rejection) = verdicts[index], rejection.reason == APNsReason.expiredProviderToken.rawValue {
                expired.append(index)
            }
        }
        guard let token, let credential else { return verdicts }
        if verdicts.contains(where: \.isAccepted) { token.noteAccepted(credential) }
        if !expired.isEmpty { await sendAgain(expired, of: pushes, request, inPlaceOf: credential, of: token, &verdicts) }
        return verdicts
    }

    private func pushes(
        _ request: APNsRequest, to tokens: [String], of notificationID: String, credential: Credential?
    ) -> PushBatch {
        let ids = PushIDSeries(notificationID: notificationID, body: request.body)
        let isNumbered = request.fixedID == nil && request.channel == nil
        var pushes = PushBatch(headers: headers(request, credential, ids), body: request.body, capacity: tokens.count)
        for token in tokens {
            pushes.append(id: isNumbered ? ids.id(of: token) : nil) { request.writePath(to: token, &$0) }
        }
        return pushes
    }

    private func headers(_ request: APNsRequest, _ credential: Credential?, _ ids: PushIDSeries) -> HeaderTemplate {
        request.headers(settings: settings, credential: credential, id: request.channel.map { ids.id(of: $0).description })
    }

    /// Sends again with a new provider token and the same ids, so that a device shows the notification once. If no new token is available
    /// yet, the rejections stand.
    private func sendAgain(
        _ expired: [Int], of pushes: PushBatch, _ request: APNsRequest, inPlaceOf credential: Credential, of token: APNsProviderToken,
        _ verdicts: inout [Verdict]
    ) async {
        let replacement: Credential?
        do throws(DeliveryFailure) {
            replacement = try await token.replacement(for: credential)
        } catch {
            for index in expired { verdicts[index] = error.verdict }
            return
        }
        guard let replacement else { return }
        let again = pushes.subset(expired, headers: pushes.headers.with(Secret("bearer " + replacement.token.reveal())))
        for (index, outcome) in zip(expired, await transport.send(again)) {
            verdicts[index] = verdict(outcome, ownID: pushes.id(index), request)
        }
    }

    /// The verdict for an outcome. An id becomes text only here.
    private func verdict(_ outcome: PushOutcome, ownID: PushID?, _ request: APNsRequest) -> Verdict {
        outcome.verdict(over: transport, to: PushOrigin(authority: settings.environment.host)) { answer in
            if answer.status == 200 {
                return .accepted(id: answer.details?.idText ?? (answer.id ?? ownID)?.description ?? request.fixedID)
            }
            return APNsAnswer(answer.response, id: ownID?.description ?? request.fixedID ?? "", now: clock.now)
                .verdict(with: settings, ownTopic: request.ownTopic)
        }
    }
}

extension APNsConnector {
    /// A broadcast is one request for all subscribers. Sent to device tokens, it would go out once for each of them.
    private static func broadcastRejection(_ request: APNsRequest, _ batch: DeliveryBatch) -> Rejection? {
        guard let channel = request.channel, batch.handles != [DeviceHandle.apns(channel: channel)] else { return nil }
        let reason = APNsReason.badChannelID
        return Rejection(
            status: 0, reason: reason.rawValue,
            explanation: "apns-channel-id is only valid in a direct send to that channel, not with tags or device tokens",
            outcome: reason.outcome, scope: .send)
    }
}

extension PushBatch {
    /// Some of the requests, with the same headers.
    fileprivate func part(_ range: Range<Int>) -> PushBatch { subset(range, headers: headers) }
}

extension Verdict {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }

    /// Whether APNs rejects the provider token for now, whatever the device.
    fileprivate var isCredentialBlock: Bool {
        if case .transient(let rejection, _) = self { rejection.isCredentialBlocked } else { false }
    }

    /// This block for a device that was not tried.
    fileprivate var notTried: Verdict {
        guard case .transient(var rejection, let retryAfter) = self else { return self }
        rejection.status = 0
        rejection.explanation += "; reported for other devices, so this one was not tried"
        return .transient(rejection, retryAfter: retryAfter)
    }
}
