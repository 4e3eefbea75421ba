import HTTPTypes
import PushCore

/// What FCM answered to one message: its name, or Google's error model (AIP-193) with FCM's own details.
struct FCMAnswer: Sendable {
    private let status: Int
    private let retryAfter: Duration?
    /// `projects/…/messages/…`
    private let name: String?
    /// The canonical code of google.rpc: `NOT_FOUND`.
    private let code: String?
    private let message: String
    /// The error code of FCM, as text; nil when the answer has no `FcmError` and so may not be about the device.
    private let fcmCode: String?
    private let faultyFields: [String]
    /// What APNs said to Google, if it did.
    private let apns: String?

    init(_ response: PushResponse, now: Timestamp) {
        status = response.status.code
        retryAfter = response.retryAfter(now: now)
        let body = JSON(answer: response.body)
        let error = body?["error"]
        let details = error?["details"]?.array ?? []
        func detail(_ type: String) -> JSON? { details.first { $0["@type"]?.string?.hasSuffix("." + type) == true } }
        name = body?["name"]?.string
        code = error?["status"]?.string?.excerpt
        message = error?["message"]?.string?.excerpt ?? ""
        fcmCode = detail("FcmError")?["errorCode"]?.string?.excerpt
        faultyFields = detail("BadRequest")?["fieldViolations"]?.array?.compactMap { $0["field"]?.string } ?? []
        apns = detail("ApnsError").map { error in
            [error["statusCode"]?.int.map { "\($0)" }, error["reason"]?.string?.excerpt].compactMap(\.self)
                .joined(separator: " ")
        }
    }

    /// 401 without `FcmError`: it is the access token, not a credential at Google.
    var isAccessTokenRefused: Bool { status == 401 && fcmCode == nil }

    var verdict: Verdict {
        if status == 200 { return .accepted(id: name) }
        if status == Rejection.labFullStatus, code == Rejection.labFullReason { return .rejected(.labFull) }
        let reason = fcmCode.flatMap(FCMReason.init(rawValue:))
        let isDead = reason == .unregistered || isTokenFaulty
        // What FCM cannot read is the message, and not the credential.
        let rejection = Rejection(
            status: status, reason: fcmCode ?? code ?? "HTTP \(status)",
            explanation: explanation(reason),
            outcome: isTokenFaulty ? .badChannel : reason?.outcome ?? outcomeOfStatus, isHandleDead: isDead,
            scope: status == 400 ? .send : .hub)
        return (reason?.retry ?? retryOfStatus).verdict(rejection, retryAfter: retryAfter)
    }

    /// `INVALID_ARGUMENT` covers payload and token alike. It is the token only if FCM itself says so, and complains of
    /// nothing else.
    private var isTokenFaulty: Bool {
        fcmCode == FCMReason.invalidArgument.rawValue && message.lowercased().contains("registration token")
            && faultyFields.allSatisfy { $0 == "message.token" }
    }

    private func explanation(_ reason: FCMReason?) -> String {
        var text = reason?.explanation ?? explanationOfStatus
        if isTokenFaulty {
            text = "the registration token is malformed; the registration is dropped until it registers anew"
        }
        if !faultyFields.isEmpty { text += "; at fault: " + faultyFields.prefix(5).joined(separator: ", ").excerpt }
        if let apns, !apns.isEmpty { text += "; APNs said " + apns }
        return message.isEmpty ? text : text + " (\(message))"
    }

    // MARK: - By status alone

    private var explanationOfStatus: String {
        switch status {
        case 400: "FCM could not read the request; correct the payload"
        case 401: "FCM refused the access token; check the service account"
        case 403: "the service account may not send for this project; grant it the role and enable the interface"
        case 404: "FCM knows no such project; check the project id in the settings (no registration is dropped)"
        case 429: "the project sends too much; slow down"
        case 500...: "FCM failed; try again later"
        default: "FCM refused the message with status \(status); its reason is not one that Google documents"
        }
    }

    private var outcomeOfStatus: OutcomeName {
        switch status {
        case 400, 405: .pnsInterfaceError
        case 401, 403, 404: .invalidCredentials
        case 413: .invalidNotificationSize
        case 429: .throttled
        case 503: .pnsUnavailable
        case 500...: .pnsServerError
        default: .unknownError
        }
    }

    private var retryOfStatus: RetryAdvice {
        switch status {
        case 401: .withNewCredential
        case 429: .later(atLeast: .seconds(60))
        case 500...: .later()
        default: .never
        }
    }
}
