import HTTPTypes
import PushCore

/// What APNs answered to one notification.
struct APNsAnswer: Sendable {
    let status: Int
    /// Nil for a reason that Apple has added since.
    let reason: APNsReason?
    private let reasonText: String
    private let deadSince: Timestamp?
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
        deadSince = body?["timestamp"]?.int.flatMap { $0 > 0 ? Timestamp(milliseconds: Int64($0)) : nil }
    }

    /// - Parameters:
    ///   - settings: what was sent with, where it was a notification.
    ///   - ownTopic: of the notification, where it is not that of the settings.
    func verdict(with settings: APNsSettings? = nil, ownTopic: String? = nil) -> Verdict {
        if status == 200 { return .accepted(id: id) }
        if status == Rejection.labFullStatus, reasonText == Rejection.labFullReason { return .rejected(.labFull) }
        var rejection = Rejection(
            status: status, reason: reasonText, explanation: reason?.explanation ?? explanationOfStatus,
            outcome: reason?.outcome ?? outcomeOfStatus, isHandleDead: isHandleDead,
            deadSince: isHandleDead ? deadSince : nil, mixUp: settings.flatMap { reason?.mixUp(with: $0) },
            scope: reason?.scope ?? .hub, isCredentialBlocked: reason?.isCredentialBlocked ?? false)
        if let ownTopic, let settings, reason?.isAboutTopic == true {
            rejection.explanation =
                "the apns-topic \"\(ownTopic.excerpt)\" of this send is not \(settings.topic), the app of the hub's credential; correct the topic "
                + "or the push type, or send through a hub with that app's credential"
            rejection.mixUp = nil
            // Another token may be of that topic.
            rejection.scope = reason == .deviceTokenNotForTopic ? .send : .headers
            // What is refused is the request, and not the credential.
            if rejection.outcome == .invalidCredentials { rejection.outcome = .pnsInterfaceError }
        }
        return (reason?.retry ?? retryOfStatus).verdict(rejection, retryAfter: retryAfter)
    }

    private var isHandleDead: Bool { reason.map(\.isHandleDead) ?? (status == 410) }

    // MARK: - By status alone, for reasons that are new

    private var explanationOfStatus: String {
        switch status {
        case 410: "APNs says that the token is no longer active; the registration is dropped until it registers anew"
        case 429: "APNs asks for fewer requests; slow down"
        case 500...: "APNs failed; try again later"
        default: "APNs refused the notification with status \(status); its reason is not one that Apple documents"
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
