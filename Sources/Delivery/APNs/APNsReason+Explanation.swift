extension APNsReason {
    /// What the reason means, and what to do.
    package var explanation: String {
        switch self {
        case .badCollapseID: "the collapse id is longer than 64 bytes; shorten it"
        case .badDeviceToken:
            "the device token is malformed or belongs to the other environment; check production against development, "
                + "and that the app sends its latest token"
        case .badExpirationDate: "apns-expiration is not a number of seconds since 1970; correct it"
        case .badMessageID: "apns-id is not a UUID; correct it or omit it"
        case .badPriority: "apns-priority is invalid; use 10, 5 or 1, and 5 for background notifications"
        case .badTopic: "apns-topic is not a topic; use the app's bundle id"
        case .deviceTokenNotForTopic: "the device token belongs to another app; check the bundle id in the settings"
        case .duplicateHeaders: "a header appears twice; send each apns-* header once"
        case .idleTimeout: "the connection was idle for too long; the notification can be sent again"
        case .invalidPushType: "apns-push-type is unknown or does not match the payload; correct it"
        case .missingDeviceToken: "the request has no device token; register the device again"
        case .missingTopic: "apns-topic is missing; set the app's bundle id in the settings"
        case .payloadEmpty: "the notification has no payload; send a JSON object with an aps dictionary"
        case .topicDisallowed: "the account may not send to this topic; check the bundle id and the key's permissions"
        case .badCertificate: "the certificate is not valid; renew it in Apple's developer account"
        case .badCertificateEnvironment: "the certificate is for the other environment; switch the environment"
        case .badEnvironmentKeyIDInToken:
            "the signing key is not enabled for this environment; use another key or switch the environment"
        case .expiredProviderToken:
            "the provider token is older than an hour; check that this machine's clock is right"
        case .forbidden: "Apple does not allow this action; check the account and the key's permissions"
        case .invalidProviderToken:
            "the provider token does not verify; check team id, key id and signing key against each other"
        case .missingProviderToken: "the request carried no provider token; configure a signing key"
        case .unrelatedKeyIDInToken:
            "the key id differs from the one used before on this connection; use one key per connection"
        case .badPath: "the path is wrong; the device token may contain characters that are not hexadecimal"
        case .methodNotAllowed: "APNs accepts only POST"
        case .expiredToken: "the device token has expired; the registration is removed until the app registers again"
        case .unregistered:
            "the app is no longer installed, or its token changed; the registration is removed until the app registers again"
        case .payloadTooLarge: "the payload is over the limit of 4,096 bytes (5,120 for voip); shorten it"
        case .tooManyProviderTokenUpdates:
            "the team's provider token changed too often, so APNs rejects every request with it for up to 20 minutes; use one token for "
                + "all senders with the key, for at least 20 minutes"
        case .tooManyRequests: "too many notifications for one device; slow down for this device"
        case .internalServerError: "APNs had an internal error; try again later"
        case .serviceUnavailable: "APNs is unavailable; try again later"
        case .shutdown: "the APNs server is shutting down; try again on a new connection"
        case .missingChannelID: "apns-channel-id is missing; set it to the channel's id"
        case .badChannelID: "the channel id is malformed; use the id returned at its creation, unchanged"
        case .channelNotRegistered:
            "the app has no such channel in this environment; list its channels with pushhost apns channels list"
        case .missingPushType: "the push type is missing; use liveactivity for channels"
        case .cannotCreateChannelConfig: "the app has reached the limit of 10,000 channels; delete unused channels"
        case .badRequestParams: "APNs could not read a parameter of the request; check bundle id and channel id"
        case .badRequestPayload: "APNs could not read the body of the request"
        case .featureNotEnabled: "broadcasts are not enabled for this app; enable the capability in Apple's developer account"
        case .topicMismatch: "the key or certificate may not send to this bundle id; check it in the settings"
        case .badEnvironmentKeyInToken:
            "the signing key is not enabled for this environment; use another key or switch the environment"
        }
    }
}
