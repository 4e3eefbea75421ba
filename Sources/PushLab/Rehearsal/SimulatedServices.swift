import Crypto
import CryptoExtras
import Delivery
import HTTPTypes
import PushModel
import Simulators

/// The four simulated push services of a rehearsal, and the keys that they trust.
struct SimulatedServices {
    let apns: APNsSimulator
    let fcm: FCMSimulator
    let wns: WNSSimulator
    let webPush: WebPushSimulator

    private static let team = "REHEARSAL1"
    private static let key = "REHEARSED1"
    private static let project = "pushhost-rehearsal"
    private static let account = "hub@pushhost-rehearsal.iam.gserviceaccount.com"
    private static let package = "ms-app://s-1-15-2-1001-2002-3003-4004-5005-6006-7007"
    private static let contact = "mailto:hub@pushhost-rehearsal.example"
    private let windowsSecret: String
    private let applicationServerKey: ApplicationServerKey

    init(lab: PhoneLab, clock: any HubClock, seed: UInt64, applicationServerKey: ApplicationServerKey) {
        let time = SimulatorClock(now: { clock.now.milliseconds })
        let random = SimulatorRandom(bytes: SeededRandom.derived(from: seed, for: "services").bytes)
        self.applicationServerKey = applicationServerKey
        windowsSecret = SeededRandom.derived(from: seed, for: "WNS").hex(32)
        apns = APNsSimulator(
            lab: lab, clock: time, random: random,
            settings: APNsSimulatorSettings(teamID: Self.team, topics: [SimulatedLab.app]))
        fcm = FCMSimulator(
            lab: lab, clock: time, random: random,
            settings: FCMSimulatorSettings(projectID: Self.project, clientEmail: Self.account))
        wns = WNSSimulator(
            lab: lab, clock: time, random: random,
            settings: WNSSimulatorSettings(
                packageSID: Self.package, clientSecret: windowsSecret, appName: SimulatedLab.app))
        webPush = WebPushSimulator(lab: lab, clock: time, random: random)
    }

    /// The simulated service of a platform; FCM also serves GCM registrations. Nil for platforms without a simulator.
    subscript(platform: Platform) -> (any RefusingService)? {
        switch platform {
        case .apns: apns
        case .fcmV1, .gcm: fcm
        case .wns: wns
        case .browser: webPush
        case .mpns, .adm, .baidu, .xiaomi: nil
        }
    }

    /// The platform whose service has the request's host; nil if none does.
    func platform(of request: HTTPRequest) -> Platform? {
        let host = String((request.authority ?? "").prefix { $0 != ":" }).lowercased()
        return [.apns, .fcmV1, .wns, .browser].first { self[$0]?.hosts.contains(host) == true }
    }

    /// Creates the connectors. Each generates its keys, and registers them with its simulator, on first use.
    func connectors(
        transport: any PushTransport, clock: any HubClock, random: any RandomSource
    ) -> [any Connector] {
        let (apns, fcm, secret, serverKey) = (apns, fcm, windowsSecret, applicationServerKey)
        return [
            LazyConnector([.apns]) { () throws(PushError) in
                let key = P256.Signing.PrivateKey()
                apns.trust(key: key.publicKey, kid: Self.key)
                return try APNsConnector(
                    settings: APNsSettings(
                        teamID: Self.team, keyID: Self.key, privateKey: Secret(key.pemRepresentation),
                        topic: SimulatedLab.app),
                    transport: transport, clock: clock)
            },
            LazyConnector([.fcmV1, .gcm]) { () throws(PushError) in
                guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else {
                    throw PushError("credential.invalid", "the rehearsal could not generate an RSA key")
                }
                fcm.trust(key: key.publicKey, kid: Self.key)
                return try FCMConnector(
                    settings: FCMSettings(
                        projectID: Self.project, clientEmail: Self.account, privateKeyID: Self.key,
                        privateKey: Secret(key.pkcs8PEMRepresentation)),
                    transport: transport, clock: clock)
            },
            LazyConnector([.wns]) { () throws(PushError) in
                try WNSConnector(
                    settings: WNSSettings(packageSID: Self.package, clientSecret: Secret(secret)),
                    transport: transport, clock: clock)
            },
            LazyConnector([.browser]) { () throws(PushError) in
                let key = serverKey.privateKey
                return try WebPushConnector(
                    settings: WebPushSettings(
                        subject: Self.contact, publicKey: Base64URL.encode(key.publicKey.x963Representation),
                        privateKey: Secret(key.pemRepresentation)),
                    transport: transport, clock: clock, random: random)
            },
        ]
    }
}
