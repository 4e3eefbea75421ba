package import PushModel

/// The `errorCode` of FCM in the detail `google.firebase.fcm.v1.FcmError` ("REST: ErrorCode").
package enum FCMReason: String, ServiceReason {
    case unspecified = "UNSPECIFIED_ERROR"
    case invalidArgument = "INVALID_ARGUMENT"
    case unregistered = "UNREGISTERED"
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case unavailable = "UNAVAILABLE"
    case internalError = "INTERNAL"
    case thirdPartyAuthError = "THIRD_PARTY_AUTH_ERROR"

    /// The status that Google documents for it; `nil` if there is none.
    package var status: Int? {
        switch self {
        case .unspecified: nil
        case .invalidArgument: 400
        case .thirdPartyAuthError: 401
        case .senderIDMismatch: 403
        case .unregistered: 404
        case .quotaExceeded: 429
        case .internalError: 500
        case .unavailable: 503
        }
    }

    package var outcome: OutcomeName {
        switch self {
        case .unspecified: .unknownError
        case .invalidArgument: .pnsInterfaceError
        case .thirdPartyAuthError: .invalidCredentials
        case .senderIDMismatch: .wrongToken
        case .unregistered: .expiredChannel
        case .quotaExceeded: .throttled
        case .internalError: .pnsServerError
        case .unavailable: .pnsUnavailable
        }
    }

    package var texts: (meaning: String, advice: String?) {
        switch self {
        case .unspecified: ("FCM gave no reason", nil)
        case .invalidArgument: ("a field of the message is invalid", "correct the payload")
        case .thirdPartyAuthError:
            ("the credential for APNs or Web Push at Google is missing or was rejected", "upload it in the Firebase console")
        case .senderIDMismatch: ("the registration token belongs to another Firebase project", "check the project id in the settings")
        case .unregistered:
            ("the app is no longer installed, or its token changed", "the registration is removed until the app registers again")
        case .quotaExceeded: ("too many messages for the project, the device or the topic", "slow down")
        case .internalError: ("FCM had an internal error", "try again later")
        case .unavailable: ("FCM is unavailable", "try again later")
        }
    }

    var retry: RetryAdvice {
        switch self {
        case .quotaExceeded: .later(atLeast: .seconds(60))
        case .unavailable, .internalError: .later()
        default: .never
        }
    }
}
