import HTTPTypes
import PushModel

/// The response of APNs to one request, read into a verdict.
struct APNsAnswer: Sendable {
    let status: Int
    /// `nil` for a reason that Apple added after this list was written.
    let reason: APNsReason?
    private let reasonText: String
    private let invalidSince: Timestamp?
    private let id: String?
    private let retryAfter: Duration?

    init(_ response: PushResponse, id: String, now: Timestamp) {
        status = response.status.code
        self.id = response.headers[.apnsID] ?? response.headers[.apnsRequestID] ?? id
        retryAfter = response.retryAfter(now: now)
        let body = status == 200 ? nil : JSON(answer: response.body)
        let text = body?["reason"]?.string ?? ""
        reason = APNsReason(rawValue: text)
        reasonText = text.isEmpty ? "HTTP \(status)" : text.excerpt
        invalidSince = body?["timestamp"]?.int.flatMap { $0 > 0 ? Timestamp(milliseconds: Int64($0)) : nil }
    }

    /// - Parameters:
    ///   - settings: The settings that the notification was sent with; `nil` for a request that manages channels.
    ///   - ownTopic: The notification's topic, if it differs from that of the settings.
    func verdict(with settings: APNsSettings? = nil, ownTopic: String? = nil) -> Verdict {
        if status == 200 { return .accepted(id: id) }
        if status == Rejection.labFullStatus, reasonText == Rejection.labFullReason { return .rejected(.labFull) }
        var rejection = Rejection(
            status: status, reason: reasonText, explanation: reason?.explanation ?? explanationOfStatus,
            outcome: reason?.outcome ?? outcomeOfStatus, handleFault: handleFault(with: settings),
            scope: reason?.scope ?? .hub, isCredentialBlocked: reason?.isCredentialBlocked ?? false)
        if let ownTopic, let settings, reason?.isAboutTopic == true {
            rejection.explanation =
                "the apns-topic \"\(ownTopic.excerpt)\" of this send is not \(settings.topic), the app of the hub's credential; correct the topic "
                + "or the push type, or send through a hub with that app's credential"
            rejection.handleFault = nil
            // Another device token may belong to this topic.
            rejection.scope = reason == .deviceTokenNotForTopic ? .send : .headers
            // The topic of the request is refused, not the credential.
            if rejection.outcome == .invalidCredentials { rejection.outcome = .pnsInterfaceError }
        }
        return (reason?.retry ?? retryOfStatus).verdict(rejection, retryAfter: retryAfter)
    }

    private func handleFault(with settings: APNsSettings?) -> HandleFault? {
        if reason.map(\.isHandleInvalid) ?? (status == 410) { return .invalid(since: invalidSince) }
        return settings.flatMap { reason?.wrongEnvironment(with: $0) }.map { .wrongEnvironment(advice: $0) }
    }

    // MARK: - Fallbacks by status, for unknown reasons

    private var explanationOfStatus: String {
        switch status {
        case 410: "APNs reports that the device token is no longer active; the registration is removed until the app registers again"
        case 429: "APNs received too many requests; slow down"
        case 500...: "APNs had an error; try again later"
        default: "APNs rejected the notification with status \(status) and a reason that Apple does not document"
        }
    }

    private var outcomeOfStatus: OutcomeName {
        switch status {
        case 403: .invalidCredentials
        case 400, 404, 405: .pnsInterfaceError
        case 410: .expiredChannel
        case 413: .invalidNotificationSize
        case 429: .throttled
        case 503: .pnsUnavailable
        case 500...: .pnsServerError
        default: .unknownError
        }
    }

    private var retryOfStatus: RetryAdvice { status == 429 || status >= 500 ? .later() : .never }
}
