import HTTPTypes
import PushModel

/// The response of FCM to one message: the message's name, or an error in Google's model (AIP-193) with FCM's details.
struct FCMAnswer: Sendable {
    private let status: Int
    private let retryAfter: Duration?
    /// The name of the accepted message: `projects/…/messages/…`.
    private let name: String?
    /// The canonical code of google.rpc, such as `NOT_FOUND`.
    private let code: String?
    private let message: String
    /// FCM's own error code; `nil` if the response has no `FcmError`, so that it may not be about the device.
    private let fcmCode: String?
    private let faultyFields: [String]
    /// The status and reason of APNs, if FCM passed them on.
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

    /// Whether the access token was rejected. A 401 with `FcmError` is about a credential that Google holds.
    var isAccessTokenRefused: Bool { status == 401 && fcmCode == nil }

    var verdict: Verdict {
        if status == 200 { return .accepted(id: name) }
        if status == Rejection.labFullStatus, code == Rejection.labFullReason { return .rejected(.labFull) }
        let reason = fcmCode.flatMap(FCMReason.init(rawValue:))
        let isInvalid = reason == .unregistered || isTokenFaulty
        // On 400, FCM cannot read the message; the credential is fine.
        let rejection = Rejection(
            status: status, reason: fcmCode ?? code ?? "HTTP \(status)",
            explanation: explanation(reason),
            outcome: isTokenFaulty ? .badChannel : reason?.outcome ?? outcomeOfStatus, handleFault: isInvalid ? .invalid() : nil,
            scope: status == 400 ? .send : .hub)
        return (reason?.retry ?? retryOfStatus).verdict(rejection, retryAfter: retryAfter)
    }

    /// Whether the registration token is malformed. `INVALID_ARGUMENT` covers payload and token; it is the token only if FCM's message says
    /// so and no other field is at fault.
    private var isTokenFaulty: Bool {
        fcmCode == FCMReason.invalidArgument.rawValue && message.lowercased().contains("registration token")
            && faultyFields.allSatisfy { $0 == "message.token" }
    }

    private func explanation(_ reason: FCMReason?) -> String {
        var text = reason?.explanation ?? explanationOfStatus
        if isTokenFaulty {
            text = "the registration token is malformed; the registration is removed until the app registers again"
        }
        if !faultyFields.isEmpty { text += "; at fault: " + faultyFields.prefix(5).joined(separator: ", ").excerpt }
        if let apns, !apns.isEmpty { text += "; APNs answered " + apns }
        return message.isEmpty ? text : text + " (\(message))"
    }

    // MARK: - Fallbacks by status

    private var explanationOfStatus: String {
        switch status {
        case 400: "FCM could not read the request; correct the payload"
        case 401: "FCM rejected the access token; check the service account"
        case 403: "the service account may not send for this project; grant it the role, and enable the API"
        case 404: "unknown project; check the project id in the settings (no registration is removed)"
        case 429: "the project sends too many messages; slow down"
        case 500...: "FCM had an error; try again later"
        default: "FCM rejected the message with status \(status) and a reason that Google does not document"
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
