extension WebPushReason {
    /// What it means, and what to do.
    package var explanation: String {
        switch self {
        case .badRequest: "a header is missing or wrong, or the encryption is; correct TTL, Urgency or Topic"
        case .unauthorized:
            "the VAPID token was refused, or the subscription was made with another VAPID key; check subject, key pair, and that this "
                + "machine's clock is right"
        case .forbidden:
            "the subscription was made with another VAPID key, or the token was refused; use the key pair that the web app "
                + "subscribes with"
        case .notFound: "there is no such subscription; the registration is dropped until the web app subscribes anew"
        case .methodNotAllowed: "the push service takes POST only"
        case .notAcceptable, .tooManyRequests: "this browser or this sender gets too many messages; slow down"
        case .gone: "the subscription has ended; the registration is dropped until the web app subscribes anew"
        case .payloadTooLarge: "the message is over the limit of 4,096 encrypted bytes; shorten it"
        case .internalServerError: "the push service failed inside; try again later"
        case .badGateway: "the push service could not hand the message on; try again later"
        case .serviceUnavailable: "the push service is not available; try again later"
        case .gatewayTimeout: "the push service did not answer in time; try again later"
        }
    }
}
