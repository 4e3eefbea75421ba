import HTTPTypes
import Synchronization

/// Simulates the Windows Push Notification Services and their token endpoint.
///
/// It answers `POST https://login.live.com/accesstoken.srf` and POST to the channel URIs of the lab's phones (Microsoft, "Push notification
/// service request and response headers").
package final class WNSSimulator: RefusingService {
    struct State: Sendable {
        var settings: WNSSimulatorSettings
        /// Access tokens with their package and their expiry in milliseconds since 1970.
        var tokens: [String: (packageSID: String, expiresAt: Int64)] = [:]
        var pushes = RateLimiter(window: 60_000)
    }

    let lab: PhoneLab
    let clock: SimulatorClock
    let random: SimulatorRandom
    let state: Mutex<State>
    package let faults: FaultInjector<WNSReason>
    package let grantFaults: FaultInjector<GrantReason>?

    /// - Parameter chance: Random source for faults with a share; `nil` for `random`.
    package init(
        lab: PhoneLab, clock: SimulatorClock, random: SimulatorRandom, settings: WNSSimulatorSettings, chance: SimulatorRandom? = nil
    ) {
        self.lab = lab
        self.clock = clock
        self.random = random
        faults = FaultInjector(random: chance ?? random)
        grantFaults = FaultInjector(random: chance ?? random)
        state = Mutex(State(settings: settings))
    }

    package var hosts: Set<String> { ["login.live.com", HandleGenerator.channelHost] }

    /// Channels may be on other hosts of WNS as well, but are unknown until adopted.
    package func answers(for host: String) -> Bool { hosts.contains(host) || host.hasSuffix(".notify.windows.com") }

    /// Changes the client secret; issued access tokens remain valid.
    package func trust(clientSecret: String) {
        state.withLock { $0.settings.clientSecret = clientSecret }
    }

    /// Invalidates all issued access tokens.
    package func revokeAccessTokens() {
        state.withLock { $0.tokens = [:] }
    }

    /// Changes the settings.
    package func update(_ change: @Sendable (inout WNSSimulatorSettings) -> Void) {
        state.withLock { change(&$0.settings) }
    }

    package func respond(to request: HTTPRequest, body: [UInt8]) -> (response: HTTPResponse, body: [UInt8]) {
        isGrant(request) ? grant(request, body: body) : push(request, body: body)
    }

    /// Whether a request is for the token endpoint.
    func isGrant(_ request: HTTPRequest) -> Bool { request.path?.hasPrefix("/accesstoken.srf") == true }
}
