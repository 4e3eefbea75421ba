import Crypto
import CryptoExtras

/// The four push services and their phones, configured for one app.
struct SimulatedSite: Sendable {
    let credentials: SimulatorCredentials
    let clock: SimulatorClock
    let phones: PhoneLab
    private let apns: APNsSimulator
    private let apnsDevelopment: APNsSimulator
    private let fcm: FCMSimulator
    private let wns: WNSSimulator
    private let webPush: WebPushSimulator
    private let random: SimulatorRandom

    /// Maximum number of inbox items per phone, because a site may run for a long time.
    private static let inboxLimit = 1000
    /// Maximum number of inbox items per phone when there are many phones.
    private static let manyPhonesInboxLimit = 100

    /// - Parameter chance: Random source for faults with a share; `nil` for `random`.
    init(
        credentials: SimulatorCredentials, clock: SimulatorClock, random: SimulatorRandom, adoption: HandleAdoption,
        storageLimit: Int = PhoneLab.defaultStorageLimit, chance: SimulatorRandom? = nil, observer: PhoneObserver? = nil
    ) {
        self.credentials = credentials
        self.clock = clock
        self.random = random
        phones = PhoneLab(
            clock: clock, random: random, adoption: adoption,
            inboxLimit: adoption.fullPhoneLimit == nil ? Self.inboxLimit : Self.manyPhonesInboxLimit,
            storageLimit: storageLimit, observer: observer)
        var team = APNsSimulatorSettings(
            teamID: SimulatorCredentials.teamID,
            keys: [SimulatorCredentials.keyID: .init(publicKey: credentials.apnsKey.publicKey)],
            topics: [SimulatorCredentials.app])
        team.certificateAuthority = credentials.apnsAuthority.publicKey
        let refusals = FaultInjector<APNsReason>(random: chance ?? random)
        apns = APNsSimulator(lab: phones, clock: clock, random: random, settings: team, faults: refusals)
        team.environment = .development
        apnsDevelopment = APNsSimulator(lab: phones, clock: clock, random: random, settings: team, faults: refusals)
        fcm = FCMSimulator(
            lab: phones, clock: clock, random: random,
            settings: FCMSimulatorSettings(
                projectID: SimulatorCredentials.projectID, clientEmail: SimulatorCredentials.clientEmail,
                keys: [SimulatorCredentials.keyID: credentials.fcmKey.publicKey]), chance: chance)
        wns = WNSSimulator(
            lab: phones, clock: clock, random: random,
            settings: WNSSimulatorSettings(
                packageSID: SimulatorCredentials.packageSID, clientSecret: credentials.windowsSecret,
                appName: SimulatorCredentials.app), chance: chance)
        webPush = WebPushSimulator(lab: phones, clock: clock, random: random, chance: chance)
    }

    subscript(platform: PhonePlatform) -> any RefusingService {
        switch platform {
        case .apns: apns
        case .fcm: fcm
        case .wns: wns
        case .browser: webPush
        }
    }

    /// The APNs simulator of an environment; faults apply to both.
    subscript(environment: APNsEnvironment) -> APNsSimulator {
        switch environment {
        case .production: apns
        case .development: apnsDevelopment
        }
    }

    /// Sets the rules for provider tokens in both environments.
    func change(_ rules: APNsTokenRules) {
        for simulator in [apns, apnsDevelopment] { simulator.update { $0.tokenRules = rules } }
    }

    /// Creates a signing key that both environments trust, or only the given one.
    ///
    /// - Parameter topics: Bundle ids that it may be used for; `nil` for those of the team. Another team has none by default.
    func makeKey(
        team: String, environment: APNsEnvironment?, topics: Set<String>?
    ) -> (id: String, key: P256.Signing.PrivateKey) {
        let key = P256.Signing.PrivateKey()
        let topics = topics ?? (team == SimulatorCredentials.teamID ? nil : [])
        // Ten characters, like Apple's key ids.
        let id = String(random.hex(5).uppercased())
        for simulator in [apns, apnsDevelopment] {
            simulator.trust(key: key.publicKey, kid: id, environment: environment, team: team, topics: topics)
        }
        return (id, key)
    }

    /// Returns `false` if there is no such key.
    func revokeKey(_ id: String) -> Bool {
        let isKnown = apns.trusts(kid: id)
        for simulator in [apns, apnsDevelopment] { simulator.revoke(kid: id) }
        return isKnown
    }

    /// Invalidates all access tokens that a service has issued; returns `false` for a service without access tokens.
    func revokeAccessTokens(_ platform: PhonePlatform) -> Bool {
        self[platform].revokeAccessTokens()
        return self[platform].grantFaults != nil
    }

    /// The service with this host name, and for APNs its environment; `nil` if there is none.
    func service(answeringFor host: String) -> (platform: PhonePlatform, environment: APNsEnvironment)? {
        if apnsDevelopment.answers(for: host) { return (.apns, .development) }
        return PhonePlatform.allCases.first { self[$0].answers(for: host) }.map { ($0, .production) }
    }

    /// Whether the host is this machine, or the name of the simulators' port.
    func isOwn(_ host: String) -> Bool { Self.machine.contains(host) || host == phones.address.host }

    private static let machine: Set<String> = ControlPlane.hosts.union(["[::1]", ""])

    /// Sets the address that new handles and credentials name.
    func publish(_ address: ServiceAddress) {
        phones.publish(address)
        if let authority = address.authority(of: .fcm) { fcm.update { $0.audiences.insert("https://\(authority)/token") } }
    }

    /// The hosts of a platform; `*.` matches any labels.
    func hosts(of platform: PhonePlatform) -> [String] {
        (platform == .apns ? apns.hosts.union(apnsDevelopment.hosts) : self[platform].hosts).sorted()
    }
}
