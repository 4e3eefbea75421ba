extension WebPushReason {
    /// What the reason means, and what to do.
    package var explanation: String {
        switch self {
        case .badRequest: "a header or the encryption is missing or invalid; correct TTL, Urgency or Topic"
        case .unauthorized:
            "the VAPID token was rejected, or the subscription was made with another VAPID key; check subject, key pair, and that this "
                + "machine's clock is right"
        case .forbidden:
            "the subscription was made with another VAPID key, or the token was rejected; use the key pair that the web app "
                + "subscribes with"
        case .notFound: "unknown subscription; the registration is removed until the web app subscribes again"
        case .methodNotAllowed: "the push service accepts only POST"
        case .notAcceptable, .tooManyRequests: "too many messages to this browser or from this sender; slow down"
        case .gone: "the subscription has ended; the registration is removed until the web app subscribes again"
        case .payloadTooLarge: "the message is over the limit of 4,096 encrypted bytes; shorten it"
        case .internalServerError: "the push service had an internal error; try again later"
        case .badGateway: "the push service could not forward the message; try again later"
        case .serviceUnavailable: "the push service is unavailable; try again later"
        case .gatewayTimeout: "the push service did not answer in time; try again later"
        }
    }
}
