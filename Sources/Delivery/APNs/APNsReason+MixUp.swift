import PushModel

extension APNsReason {
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
}

extension APNsSettings.Environment {
    fileprivate var other: String {
        switch self {
        case .production: "development (the sandbox)"
        case .development: "production"
        }
    }
}
