import Crypto
import CryptoExtras

/// The four push services with the phones behind them, of one developer's app.
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

    /// How many items a phone keeps, for a site may run for long.
    private static let inboxLimit = 1000
    /// The same where there are many phones.
    private static let crowdedInboxLimit = 100

    init(
        credentials: SimulatorCredentials, clock: SimulatorClock, random: SimulatorRandom, adoptsHandles: Bool,
        closeCircle: Int? = nil, adoptionLimit: Int? = nil, storageLimit: Int = PhoneLab.standardStorageLimit,
        chance: SimulatorRandom? = nil, watcher: PhoneWatcher? = nil
    ) {
        self.credentials = credentials
        self.clock = clock
        self.random = random
        phones = PhoneLab(
            clock: clock, random: random, adoptsHandles: adoptsHandles, closeCircle: closeCircle,
            adoptionLimit: adoptionLimit ?? (closeCircle == nil ? PhoneLab.standardAdoptionLimit : Crowd.capacity),
            inboxLimit: closeCircle == nil ? Self.inboxLimit : Self.crowdedInboxLimit,
            storageLimit: storageLimit,
            observer: watcher?.event, wakeObserver: watcher?.wake)
        var team = APNsSimulatorSettings(
            teamID: SimulatorCredentials.teamID,
            keys: [SimulatorCredentials.keyID: .init(publicKey: credentials.apnsKey.publicKey)],
            topics: [SimulatorCredentials.app])
        team.certificateAuthority = credentials.apnsAuthority.publicKey
        let refusals = FaultScript<APNsReason>(random: chance ?? random)
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

    /// APNs of an environment; refusals are ordered for both.
    subscript(environment: APNsEnvironment) -> APNsSimulator {
        switch environment {
        case .production: apns
        case .development: apnsDevelopment
        }
    }

    /// Sets what APNs asks of provider tokens in both environments.
    func change(_ rules: APNsTokenRules) {
        for simulator in [apns, apnsDevelopment] { simulator.update { $0.tokenRules = rules } }
    }

    /// A new signing key, which both environments trust unless it is for one alone.
    ///
    /// - Parameter topics: Bundle ids that it may be used for; those of the team for nil, of which another team has none.
    func makeKey(
        team: String, environment: APNsEnvironment?, topics: Set<String>?
    ) -> (id: String, key: P256.Signing.PrivateKey) {
        let key = P256.Signing.PrivateKey()
        let topics = topics ?? (team == SimulatorCredentials.teamID ? nil : [])
        // Ten characters, as Apple's.
        let id = String(random.hex(5).uppercased())
        for simulator in [apns, apnsDevelopment] {
            simulator.trust(key: key.publicKey, kid: id, environment: environment, team: team, topics: topics)
        }
        return (id, key)
    }

    /// False where there is none.
    func revokeKey(_ id: String) -> Bool {
        let isKnown = apns.trusts(kid: id)
        for simulator in [apns, apnsDevelopment] { simulator.revoke(kid: id) }
        return isKnown
    }

    /// Makes all access tokens bad that a service has given out; false for one that gives none.
    func revokeAccessTokens(_ platform: PhonePlatform) -> Bool {
        self[platform].revokeAccessTokens()
        return self[platform].grantFaults != nil
    }

    /// The service that has a host among the names of the real one, and of APNs its environment; nil when none does.
    func service(answeringFor host: String) -> (platform: PhonePlatform, environment: APNsEnvironment)? {
        if apnsDevelopment.answers(for: host) { return (.apns, .development) }
        return PhonePlatform.allCases.first { self[$0].answers(for: host) }.map { ($0, .production) }
    }

    /// Whether a host is this machine, or what the simulators' own port is called.
    func isOwn(_ host: String) -> Bool { Self.machine.contains(host) || host == phones.address.host }

    private static let machine: Set<String> = ControlPlane.hosts.union(["[::1]", ""])

    /// Hands out handles and credentials of these services under an address of their own.
    func publish(_ address: ServiceAddress) {
        phones.publish(address)
        if let authority = address.authority(of: .fcm) { fcm.update { $0.audiences.insert("https://\(authority)/token") } }
    }

    /// The hosts of a platform; `*.` stands for any labels.
    func hosts(of platform: PhonePlatform) -> [String] {
        (platform == .apns ? apns.hosts.union(apnsDevelopment.hosts) : self[platform].hosts).sorted()
    }
}

/// Who is told what becomes of pushes on the phones of a site, outside of any lock.
package struct PhoneWatcher: Sendable {
    package var event: @Sendable (PhoneEvent) -> Void
    /// Of a push that wakes the app's own code.
    package var wake: @Sendable (AppDelivery) -> Void

    package init(event: @escaping @Sendable (PhoneEvent) -> Void, wake: @escaping @Sendable (AppDelivery) -> Void) {
        self.event = event
        self.wake = wake
    }
}
