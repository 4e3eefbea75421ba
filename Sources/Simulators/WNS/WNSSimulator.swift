import HTTPTypes
import Synchronization

/// A stand-in for the Windows Push Notification Services and their token endpoint.
///
/// It answers `POST https://login.live.com/accesstoken.srf` and POST to the channel URIs of the lab's phones
/// (Microsoft, "Push notification service request and response headers").
package final class WNSSimulator: RefusingService {
    struct State: Sendable {
        var settings: WNSSimulatorSettings
        /// Access tokens with the package they belong to and when they expire, milliseconds since 1970.
        var tokens: [String: (packageSID: String, expiresAt: Int64)] = [:]
        var pushes = RateMeter(window: 60_000)
    }

    let lab: PhoneLab
    let clock: SimulatorClock
    let random: SimulatorRandom
    let state: Mutex<State>
    package let faults: FaultScript<WNSReason>
    package let grantFaults: FaultScript<GrantReason>?

    /// - Parameter chance: What refusals of a share of all notifications are drawn with; `random` for nil.
    package init(
        lab: PhoneLab, clock: SimulatorClock, random: SimulatorRandom, settings: WNSSimulatorSettings, chance: SimulatorRandom? = nil
    ) {
        self.lab = lab
        self.clock = clock
        self.random = random
        faults = FaultScript(random: chance ?? random)
        grantFaults = FaultScript(random: chance ?? random)
        state = Mutex(State(settings: settings))
    }

    package var hosts: Set<String> { ["login.live.com", HandleMint.channelHost] }

    /// Channels may live on other hosts of WNS as well; none is known there until it is adopted.
    package func answers(for host: String) -> Bool { hosts.contains(host) || host.hasSuffix(".notify.windows.com") }

    /// Gives the app a new client secret; access tokens that were given out stay good.
    package func trust(clientSecret: String) {
        state.withLock { $0.settings.clientSecret = clientSecret }
    }

    /// Makes all access tokens that were given out bad.
    package func revokeAccessTokens() {
        state.withLock { $0.tokens = [:] }
    }

    /// Changes any of the settings.
    package func update(_ change: @Sendable (inout WNSSimulatorSettings) -> Void) {
        state.withLock { change(&$0.settings) }
    }

    package func respond(to request: HTTPRequest, body: [UInt8]) -> (response: HTTPResponse, body: [UInt8]) {
        isGrant(request) ? grant(request, body: body) : push(request, body: body)
    }

    /// Whether a request asks for an access token.
    func isGrant(_ request: HTTPRequest) -> Bool { request.path?.hasPrefix("/accesstoken.srf") == true }
}
