import PushModel

/// Every `reason` of an APNs response ("Handling notification responses from APNs"), and what follows from it for the send.
package enum APNsReason: String, CaseIterable, Sendable {
    case badCollapseID = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageID = "BadMessageId"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case idleTimeout = "IdleTimeout"
    case invalidPushType = "InvalidPushType"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case topicDisallowed = "TopicDisallowed"
    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
    case expiredProviderToken = "ExpiredProviderToken"
    case forbidden = "Forbidden"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"
    case expiredToken = "ExpiredToken"
    case unregistered = "Unregistered"
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"
    // Reasons for broadcasts and channel management.
    case missingChannelID = "MissingChannelId"
    case badChannelID = "BadChannelId"
    case channelNotRegistered = "ChannelNotRegistered"
    case missingPushType = "MissingPushType"
    case cannotCreateChannelConfig = "CannotCreateChannelConfig"
    case badRequestParams = "BadRequestParams"
    case badRequestPayload = "BadRequestPayload"
    case featureNotEnabled = "FeatureNotEnabled"
    case topicMismatch = "TopicMismatch"
    case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"

    /// The status that Apple documents for it. For some channel reasons it is taken from observed responses.
    package var status: Int {
        switch self {
        case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
            .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
            .missingTopic, .payloadEmpty, .topicDisallowed, .missingChannelID, .badChannelID, .channelNotRegistered,
            .missingPushType, .cannotCreateChannelConfig, .badRequestParams, .badRequestPayload:
            400
        case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .expiredProviderToken,
            .forbidden, .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken, .featureNotEnabled, .topicMismatch,
            .badEnvironmentKeyInToken:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        }
    }

    package var outcome: OutcomeName {
        switch self {
        case .badDeviceToken, .missingDeviceToken, .missingChannelID, .badChannelID, .channelNotRegistered: .badChannel
        case .deviceTokenNotForTopic: .wrongToken
        case .expiredToken, .unregistered: .expiredChannel
        case .payloadTooLarge: .invalidNotificationSize
        case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .expiredProviderToken,
            .forbidden, .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken, .topicDisallowed,
            .featureNotEnabled, .topicMismatch, .badEnvironmentKeyInToken:
            .invalidCredentials
        case .tooManyProviderTokenUpdates, .tooManyRequests: .throttled
        case .internalServerError: .pnsServerError
        case .serviceUnavailable, .shutdown, .idleTimeout: .pnsUnavailable
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .badTopic, .duplicateHeaders,
            .invalidPushType, .missingTopic, .payloadEmpty, .badPath, .methodNotAllowed, .missingPushType,
            .cannotCreateChannelConfig, .badRequestParams, .badRequestPayload:
            .pnsInterfaceError
        }
    }

    /// How far the rejection reaches beyond this device, if the send uses the topic of the credential.
    var scope: Rejection.Scope {
        switch self {
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .invalidPushType, .missingPushType: .headers
        case .badDeviceToken, .missingDeviceToken, .payloadEmpty, .payloadTooLarge, .badPath, .missingChannelID, .badChannelID,
            .channelNotRegistered:
            .send
        default: .hub
        }
    }

    /// Whether the topic of the send is what APNs rejects.
    var isAboutTopic: Bool {
        switch self {
        case .badTopic, .missingTopic, .topicDisallowed, .deviceTokenNotForTopic: true
        default: false
        }
    }

    /// Whether the device token is invalid for good. Only a 410 proves that. `BadDeviceToken` may also mean the wrong environment, and a
    /// mistake in the settings must not remove every device of the hub.
    package var isHandleInvalid: Bool { self == .unregistered || self == .expiredToken }

    /// Whether APNs now rejects every request with this provider token, whatever the device, for some time.
    var isCredentialBlocked: Bool { self == .tooManyProviderTokenUpdates }

    var retry: RetryAdvice {
        switch self {
        case .expiredProviderToken: .withNewCredential
        case .tooManyProviderTokenUpdates: .later(atLeast: APNsProviderToken.smallestInterval)
        case .tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown, .idleTimeout: .later()
        default: .never
        }
    }
}
