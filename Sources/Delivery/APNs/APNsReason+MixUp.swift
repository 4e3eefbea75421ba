import PushCore

extension APNsReason {
    /// What it means if most devices are answered so; nil where nothing follows from it.
    func mixUp(with settings: APNsSettings) -> String? {
        switch self {
        case .badDeviceToken:
            "most tokens are not of this environment: the credential sends to \(settings.environment.rawValue), and the tokens look like "
                + "those of \(settings.environment.other); change the endpoint of the APNs credential, or register builds for "
                + settings.environment.rawValue
        case .deviceTokenNotForTopic:
            "most tokens are of another app than \(settings.topic); change the bundle id of the APNs credential, or send to that app's hub"
        case .badEnvironmentKeyInToken, .badEnvironmentKeyIDInToken, .badCertificateEnvironment:
            "the credential is not one for \(settings.environment.rawValue); change the endpoint of the APNs credential, or take another"
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
