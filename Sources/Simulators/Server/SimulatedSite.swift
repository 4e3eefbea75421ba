import Crypto
import CryptoExtras

/// The four push services with the phones behind them, of one developer's app.
struct SimulatedSite: Sendable {
    let credentials: SimulatorCredentials
    let clock: SimulatorClock
    let phones: PhoneLab
    private let apns: APNsSimulator
    private let fcm: FCMSimulator
    private let wns: WNSSimulator
    private let webPush: WebPushSimulator

    /// How many items a phone keeps, for a site may run for long.
    private static let inboxLimit = 1000

    init(
        credentials: SimulatorCredentials, clock: SimulatorClock, random: SimulatorRandom, adoptsHandles: Bool,
        watcher: PhoneWatcher? = nil
    ) {
        self.credentials = credentials
        self.clock = clock
        phones = PhoneLab(
            clock: clock, random: random, adoptsHandles: adoptsHandles, inboxLimit: Self.inboxLimit,
            observer: watcher?.event, wakeObserver: watcher?.wake)
        var team = APNsSimulatorSettings(
            teamID: SimulatorCredentials.teamID,
            keys: [SimulatorCredentials.keyID: .init(publicKey: credentials.apnsKey.publicKey)],
            topics: [SimulatorCredentials.app])
        // A program that is being written starts often, each time with a new token.
        team.tokenUpdatesPerTwentyMinutes = 100
        apns = APNsSimulator(lab: phones, clock: clock, random: random, settings: team)
        fcm = FCMSimulator(
            lab: phones, clock: clock, random: random,
            settings: FCMSimulatorSettings(
                projectID: SimulatorCredentials.projectID, clientEmail: SimulatorCredentials.clientEmail,
                keys: [SimulatorCredentials.keyID: credentials.fcmKey.publicKey]))
        wns = WNSSimulator(
            lab: phones, clock: clock, random: random,
            settings: WNSSimulatorSettings(
                packageSID: SimulatorCredentials.packageSID, clientSecret: credentials.windowsSecret,
                appName: SimulatorCredentials.app))
        webPush = WebPushSimulator(lab: phones, clock: clock, random: random)
    }

    subscript(platform: PhonePlatform) -> any RefusingService {
        switch platform {
        case .apns: apns
        case .fcm: fcm
        case .wns: wns
        case .browser: webPush
        }
    }

    /// The platform whose service answers for a host.
    func platform(answeringFor host: String) -> PhonePlatform? {
        PhonePlatform.allCases.first { self[$0].answers(for: host) }
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
