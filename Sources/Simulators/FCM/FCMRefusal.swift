import HTTPTypes

/// An error response of FCM, in Google's error model (AIP-193; Google, "ErrorCode" of the FCM v1 reference).
struct FCMRefusal: Error {
    var status: Int
    /// The google.rpc.Code, such as `NOT_FOUND`.
    var canonical: String
    var message: String
    var details: [JSONValue] = []
    /// Seconds.
    var retryAfter: Int?

    /// Creates an error without `FcmError`, which says nothing about a device.
    init(status: Int, canonical: String, message: String, details: [JSONValue] = []) {
        self.status = status
        self.canonical = canonical
        self.message = message
        self.details = details
    }

    /// Creates an error with `FcmError`, as documented for each error code.
    ///
    /// - Parameter retryAfter: Seconds, instead of the code's default.
    init(_ reason: FCMReason, _ message: String? = nil, retryAfter pause: Int? = nil) {
        status = reason.status
        canonical = reason.canonical
        self.message = message ?? reason.message
        details = [Self.fcmError(reason.rawValue)]
        if reason == .quotaExceeded {
            details.append(
                Self.detail(
                    "google.rpc.QuotaFailure", "violations",
                    .array([
                        JSONValue(members: ["subject": .string("per minute"), "description": .string("message quota")])
                    ])))
            retryAfter = 60
        }
        if reason == .unavailable { retryAfter = 10 }
        if let pause { retryAfter = pause }
    }

    /// An invalid field of the message. `BadRequest` names the field, so that the registration token is not blamed.
    static func badField(_ field: String, _ description: String) -> FCMRefusal {
        let violation = JSONValue(members: ["field": .string(field), "description": .string(description)])
        var refusal = FCMRefusal(.invalidArgument, description)
        refusal.details.append(detail("google.rpc.BadRequest", "fieldViolations", .array([violation])))
        return refusal
    }

    /// A body that does not match the schema. The API frontend rejects it before FCM, so without `FcmError`.
    static func badSchema(_ field: String, _ description: String) -> FCMRefusal {
        let violation = JSONValue(members: ["field": .string(field), "description": .string(description)])
        return FCMRefusal(
            status: 400, canonical: "INVALID_ARGUMENT", message: description,
            details: [detail("google.rpc.BadRequest", "fieldViolations", .array([violation]))])
    }

    static var labFull: FCMRefusal { FCMRefusal(status: LabFull.status, canonical: LabFull.reason, message: LabFull.message) }

    /// 401 without `FcmError`: the access token is missing, unknown or expired.
    static let unauthenticated = FCMRefusal(
        status: 401, canonical: "UNAUTHENTICATED",
        message: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or "
            + "other valid authentication credential.")

    /// 403 without `FcmError`: the access token has no scope for messaging.
    static let scopeInsufficient = FCMRefusal(
        status: 403, canonical: "PERMISSION_DENIED", message: "Request had insufficient authentication scopes.",
        details: [detail("google.rpc.ErrorInfo", "reason", .string("ACCESS_TOKEN_SCOPE_INSUFFICIENT"))])

    /// 404 without `FcmError`: unknown path or project.
    static let notFound = FCMRefusal(status: 404, canonical: "NOT_FOUND", message: "Requested entity was not found.")

    var answer: Answer {
        var fields = HTTPFields()
        if let retryAfter { fields.add("retry-after", String(retryAfter)) }
        if status == 401 { fields.add("www-authenticate", "Bearer realm=\"https://accounts.google.com/\"") }
        var error: [JSONValue.Member] = [
            .init(name: "code", value: .number(String(status))), .init(name: "message", value: .string(message)),
            .init(name: "status", value: .string(canonical)),
        ]
        if !details.isEmpty { error.append(.init(name: "details", value: .array(details))) }
        return Simulators.answer(status, json: JSONValue(members: ["error": .object(error)]), fields: fields)
    }

    private static func fcmError(_ code: String) -> JSONValue {
        detail("google.firebase.fcm.v1.FcmError", "errorCode", .string(code))
    }

    private static func detail(_ type: String, _ name: String, _ value: JSONValue) -> JSONValue {
        .object([
            .init(name: "@type", value: .string("type.googleapis.com/\(type)")), .init(name: name, value: value),
        ])
    }
}

extension FCMReason {
    /// The default message of the code.
    fileprivate var message: String {
        switch self {
        case .invalidArgument: "Request contains an invalid argument."
        case .unregistered: "Requested entity was not found."
        case .senderIDMismatch: "SenderId mismatch"
        case .quotaExceeded: "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute'."
        case .unavailable: "The service is currently unavailable."
        case .internalError: "Internal error encountered."
        case .thirdPartyAuthError: "Auth error from APNS or Web Push Service"
        }
    }
}
