import HTTPTypes
import PushModel

/// The response of WNS to one notification: status and headers; WNS sends no body.
struct WNSAnswer: Sendable {
    private let status: Int
    /// `nil` for a delivery, and for a status that Microsoft does not document.
    let reason: WNSReason?
    private let messageID: String?
    private let description: String?
    private let retryAfter: Duration?

    init(_ response: PushResponse, now: Timestamp) {
        let headers = response.headers
        status = response.status.code
        messageID = headers[.wnsMessageID]
        description = headers[.wnsErrorDescription]?.excerpt
        retryAfter = response.retryAfter(now: now)
        let notificationStatus = (headers[.wnsStatus] ?? headers[.wnsNotificationStatus])?.lowercased()
        switch response.status.code {
        case 200 where notificationStatus == "dropped":
            let isDisconnected = headers[.wnsDeviceConnectionStatus]?.lowercased() == "disconnected"
            reason = isDisconnected ? .deviceDisconnected : .dropped
        case 200 where notificationStatus == "channelthrottled": reason = .channelThrottled
        case 410 where headers[.wnsErrorDescription]?.lowercased().contains("block") == true: reason = .domainBlocked
        case 200: reason = nil
        default: reason = WNSReason.allCases.first { $0.status == response.status.code }
        }
    }

    var verdict: Verdict {
        if status == 200, reason == nil { return .accepted(id: messageID) }
        if status == Rejection.labFullStatus { return .rejected(.labFull) }
        let text = reason?.explanation ?? "WNS answered with status \(status), which Microsoft does not document"
        let rejection = Rejection(
            status: status, reason: reason?.rawValue ?? "HTTP \(status)",
            explanation: description.map { "\(text) (\($0))" } ?? text, outcome: reason?.outcome ?? outcomeOfStatus,
            handleFault: reason?.isHandleInvalid == true ? .invalid() : nil, scope: reason == .badRequest ? .send : .hub)
        return (reason?.retry ?? retryOfStatus).verdict(rejection, retryAfter: retryAfter)
    }

    private var outcomeOfStatus: OutcomeName {
        status == 429 ? .throttled : status >= 500 ? .pnsServerError : .unknownError
    }

    private var retryOfStatus: RetryAdvice { status == 429 || status >= 500 ? .later() : .never }
}
