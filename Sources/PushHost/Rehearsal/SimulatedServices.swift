import Crypto
import CryptoExtras
import Delivery
import HTTPTypes
import PushCore
import Simulators

/// The three simulated push services of a rehearsal, and connectors with keys that these services trust.
struct SimulatedServices {
    let apns: APNsSimulator
    let fcm: FCMSimulator
    let wns: WNSSimulator

    private static let team = "REHEARSAL1"
    private static let key = "REHEARSED1"
    private static let project = "pushhost-rehearsal"
    private static let account = "hub@pushhost-rehearsal.iam.gserviceaccount.com"
    private static let package = "ms-app://s-1-15-2-1001-2002-3003-4004-5005-6006-7007"
    private let windowsSecret: String

    init(lab: PhoneLab, clock: any HubClock, seed: UInt64) {
        let time = SimulatorClock(now: { clock.now.milliseconds })
        let random = SimulatorRandom(bytes: SeededRandom.derived(from: seed, for: "services").bytes)
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
    }

    var all: [any SimulatedService] { [apns, fcm, wns] }

    func platform(of request: HTTPRequest) -> Platform {
        let host = request.authority ?? ""
        if host.hasSuffix("push.apple.com") { return .apns }
        return host.hasSuffix("googleapis.com") ? .fcmV1 : .wns
    }

    /// Connectors whose keys are made, and registered with the simulators, on first use.
    func connectors(
        transport: any PushTransport, clock: any HubClock, random: any RandomSource
    ) -> [any Connector] {
        let (apns, fcm, secret) = (apns, fcm, windowsSecret)
        return [
            LazyConnector([.apns]) { () throws(PushError) in
                let key = P256.Signing.PrivateKey()
                apns.trust(key: key.publicKey, kid: Self.key)
                return try APNsConnector(
                    settings: APNsSettings(
                        teamID: Self.team, keyID: Self.key, privateKey: Secret(key.pemRepresentation),
                        topic: SimulatedLab.app),
                    transport: transport, clock: clock, random: random)
            },
            LazyConnector([.fcmV1, .gcm]) { () throws(PushError) in
                guard let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048) else {
                    throw PushError("credential.invalid", "the rehearsal could not make an RSA key")
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
        ]
    }
}
