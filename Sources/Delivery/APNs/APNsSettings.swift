package import PushModel

/// The APNs credential of one app, with its topic and environment.
package struct APNsSettings: Sendable {
    package enum Environment: String, Sendable, CaseIterable {
        case production, development

        /// The host for notifications ("Sending notification requests to APNs").
        package var host: String {
            switch self {
            case .production: "api.push.apple.com"
            case .development: "api.sandbox.push.apple.com"
            }
        }

        /// The host that manages broadcast channels ("Sending channel management requests to APNs").
        package var channelHost: String {
            switch self {
            case .production: "api-manage-broadcast.push.apple.com:2196"
            case .development: "api-manage-broadcast.sandbox.push.apple.com:2195"
            }
        }
    }

    /// The method by which the hub authenticates to APNs.
    package enum Authentication: Sendable {
        /// Every request carries a token signed with this key.
        case token(APNsSigningKey)
        /// The TLS connection presents this certificate; requests carry no token.
        case certificate(APNsCertificate)
    }

    package var authentication: Authentication
    /// The app's bundle id.
    package var topic: String
    package var environment: Environment

    package init(authentication: Authentication, topic: String, environment: Environment = .production) {
        self.authentication = authentication
        self.topic = topic
        self.environment = environment
    }

    package init(
        teamID: String, keyID: String, privateKey: Secret, topic: String, environment: Environment = .production
    ) {
        self.init(
            authentication: .token(APNsSigningKey(teamID: teamID, keyID: keyID, privateKey: privateKey)), topic: topic,
            environment: environment)
    }

    /// Uses a certificate, which supplies the topic and the environment if they are omitted. Throws `credential.invalid` if it does not
    /// name a single app, or is for the other environment.
    package init(certificate: APNsCertificate, topic: String? = nil, environment: Environment? = nil) throws(PushError) {
        guard let topic = topic ?? certificate.bundleID else {
            let names = certificate.topics.isEmpty ? "none" : certificate.topics.joined(separator: ", ").excerpt
            throw .invalidCredential("the certificate is not for exactly one app (\(names))", "give the app's bundle id as the topic")
        }
        let marked = certificate.environments.count == 1 ? certificate.environments.first : nil
        if let marked, let environment, marked != environment {
            throw .invalidCredential(
                "the certificate is only for \(marked.rawValue), but notifications go to \(environment.rawValue)",
                "use another certificate, or the other environment")
        }
        self.init(authentication: .certificate(certificate), topic: topic, environment: environment ?? marked ?? .production)
    }

    /// `nil` with token authentication.
    package var certificate: APNsCertificate? {
        if case .certificate(let certificate) = authentication { certificate } else { nil }
    }

    /// `nil` with certificate authentication.
    package var signingKey: APNsSigningKey? {
        if case .token(let key) = authentication { key } else { nil }
    }
}

extension APNsSettings {
    /// Checks what can be checked without asking Apple: the key can sign; the certificate is valid and is for the topic. Throws
    /// `credential.invalid`.
    package func check(now: Timestamp) throws(PushError) {
        guard !topic.isEmpty, topic.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw .invalidCredential("invalid bundle id \"\(topic.excerpt)\"", "give the app's bundle id, such as com.example.app")
        }
        switch authentication {
        case .token(let key):
            try key.check()
            for (id, name) in [(key.keyID, "key"), (key.teamID, "team")] where !Self.isID(id) {
                throw .invalidCredential(
                    "invalid \(name) id \"\(id.excerpt)\"", "copy the ten letters and digits from Apple's developer account")
            }
        case .certificate(let certificate):
            guard certificate.expires > now else {
                throw .invalidCredential(
                    "the certificate expired on \(certificate.expires.iso8601(fraction: false))", "renew it in Apple's developer account")
            }
            guard certificate.topics.isEmpty || certificate.topics.contains(topic) || certificate.bundleID == topic else {
                throw .invalidCredential(
                    "the certificate is not for \(topic.excerpt), but for \(certificate.topics.joined(separator: ", ").excerpt)",
                    "use the certificate of that app, or omit the topic")
            }
        }
    }

    private static func isID(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                default: false
                }
            }
    }
}
