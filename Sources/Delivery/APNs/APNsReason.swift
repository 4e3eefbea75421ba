package import PushModel

/// Every `reason` of an APNs response ("Handling notification responses from APNs"), and what follows from it for the send.
package enum APNsReason: String, ServiceReason {
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

    /// The likely cause if most devices get this reason; `nil` if nothing follows from it.
    func wrongEnvironment(with settings: APNsSettings) -> String? {
        switch self {
        case .badDeviceToken:
            "most tokens are for another environment: the credential sends to \(settings.environment.rawValue), and the tokens look like "
                + "those of \(settings.environment.other); change the endpoint of the APNs credential, or register builds for "
                + settings.environment.rawValue
        case .deviceTokenNotForTopic:
            "most tokens are for another app than \(settings.topic); change the bundle id of the APNs credential, or send to that app's hub"
        case .badEnvironmentKeyInToken, .badEnvironmentKeyIDInToken, .badCertificateEnvironment:
            "the credential is not valid for \(settings.environment.rawValue); change the endpoint of the APNs credential, or use another"
        default: nil
        }
    }

    package var texts: (meaning: String, advice: String?) {
        switch self {
        case .badCollapseID: ("the collapse id is longer than 64 bytes", "shorten it")
        case .badDeviceToken:
            (
                "the device token is malformed or belongs to the other environment",
                "check production against development, and that the app sends its latest token"
            )
        case .badExpirationDate: ("apns-expiration is not a number of seconds since 1970", "correct it")
        case .badMessageID: ("apns-id is not a UUID", "correct it or omit it")
        case .badPriority: ("apns-priority is invalid", "use 10, 5 or 1, and 5 for background notifications")
        case .badTopic: ("apns-topic is not a topic", "use the app's bundle id")
        case .deviceTokenNotForTopic: ("the device token belongs to another app", "check the bundle id in the settings")
        case .duplicateHeaders: ("a header appears twice", "send each apns-* header once")
        case .idleTimeout: ("the connection was idle for too long", "the notification can be sent again")
        case .invalidPushType: ("apns-push-type is unknown or does not match the payload", "correct it")
        case .missingDeviceToken: ("the request has no device token", "register the device again")
        case .missingTopic: ("apns-topic is missing", "set the app's bundle id in the settings")
        case .payloadEmpty: ("the notification has no payload", "send a JSON object with an aps dictionary")
        case .topicDisallowed: ("the account may not send to this topic", "check the bundle id and the key's permissions")
        case .badCertificate: ("the certificate is not valid", "renew it in Apple's developer account")
        case .badCertificateEnvironment: ("the certificate is for the other environment", "switch the environment")
        case .badEnvironmentKeyIDInToken:
            ("the signing key is not enabled for this environment", "use another key or switch the environment")
        case .expiredProviderToken: ("the provider token is older than an hour", "check that this machine's clock is right")
        case .forbidden: ("Apple does not allow this action", "check the account and the key's permissions")
        case .invalidProviderToken: ("the provider token does not verify", "check team id, key id and signing key against each other")
        case .missingProviderToken: ("the request carried no provider token", "configure a signing key")
        case .unrelatedKeyIDInToken: ("the key id differs from the one used before on this connection", "use one key per connection")
        case .badPath: ("the path is wrong", "the device token may contain characters that are not hexadecimal")
        case .methodNotAllowed: ("APNs accepts only POST", nil)
        case .expiredToken: ("the device token has expired", "the registration is removed until the app registers again")
        case .unregistered:
            ("the app is no longer installed, or its token changed", "the registration is removed until the app registers again")
        case .payloadTooLarge: ("the payload is over the limit of 4,096 bytes (5,120 for voip)", "shorten it")
        case .tooManyProviderTokenUpdates:
            (
                "the team's provider token changed too often, so APNs rejects every request with it for up to 20 minutes",
                "use one token for all senders with the key, for at least 20 minutes"
            )
        case .tooManyRequests: ("too many notifications for one device", "slow down for this device")
        case .internalServerError: ("APNs had an internal error", "try again later")
        case .serviceUnavailable: ("APNs is unavailable", "try again later")
        case .shutdown: ("the APNs server is shutting down", "try again on a new connection")
        case .missingChannelID: ("apns-channel-id is missing", "set it to the channel's id")
        case .badChannelID: ("the channel id is malformed", "use the id returned at its creation, unchanged")
        case .channelNotRegistered:
            ("the app has no such channel in this environment", "list its channels with pushhost apns channels list")
        case .missingPushType: ("the push type is missing", "use liveactivity for channels")
        case .cannotCreateChannelConfig: ("the app has reached the limit of 10,000 channels", "delete unused channels")
        case .badRequestParams: ("APNs could not read a parameter of the request", "check bundle id and channel id")
        case .badRequestPayload: ("APNs could not read the body of the request", nil)
        case .featureNotEnabled: ("broadcasts are not enabled for this app", "enable the capability in Apple's developer account")
        case .topicMismatch: ("the key or certificate may not send to this bundle id", "check it in the settings")
        case .badEnvironmentKeyInToken: ("the signing key is not enabled for this environment", "use another key or switch the environment")
        }
    }
}

extension APNsSettings.Environment {
    fileprivate var other: String {
        switch self {
        case .production: "development (the sandbox)"
        case .development: "production"
        }
    }
}
