import CryptoExtras
import HTTPTypes
import Synchronization

/// Simulates FCM's HTTP v1 API and its OAuth 2.0 token endpoint.
///
/// It answers `POST https://oauth2.googleapis.com/token` (RFC 7523) and `POST https://fcm.googleapis.com/v1/projects/<id>/messages:send`
/// (Google, "REST Resource: projects.messages").
package final class FCMSimulator: RefusingService {
    struct State: Sendable {
        var settings: FCMSimulatorSettings
        var grants: [String: FCMGrant] = [:]
        var messages = RateLimiter(window: 60_000)
    }

    let lab: PhoneLab
    let clock: SimulatorClock
    let random: SimulatorRandom
    let state: Mutex<State>
    package let faults: FaultInjector<FCMReason>
    package let grantFaults: FaultInjector<GrantReason>?

    /// - Parameter chance: Random source for faults with a share; `nil` for `random`.
    package init(
        lab: PhoneLab, clock: SimulatorClock, random: SimulatorRandom, settings: FCMSimulatorSettings, chance: SimulatorRandom? = nil
    ) {
        self.lab = lab
        self.clock = clock
        self.random = random
        faults = FaultInjector(random: chance ?? random)
        grantFaults = FaultInjector(random: chance ?? random)
        state = Mutex(State(settings: settings))
    }

    package var hosts: Set<String> { ["fcm.googleapis.com", "oauth2.googleapis.com"] }

    /// Registers a key of the service account; replaces a key with the same id.
    package func trust(key: _RSA.Signing.PublicKey, kid: String) {
        state.withLock { $0.settings.keys[kid] = key }
    }

    /// Deletes a key of the service account; issued access tokens remain valid.
    package func revoke(kid: String) {
        state.withLock { _ = $0.settings.keys.removeValue(forKey: kid) }
    }

    /// Invalidates all issued access tokens.
    package func revokeAccessTokens() {
        state.withLock { $0.grants = [:] }
    }

    /// Changes the settings.
    package func update(_ change: @Sendable (inout FCMSimulatorSettings) -> Void) {
        state.withLock { change(&$0.settings) }
    }

    package func respond(to request: HTTPRequest, body: [UInt8]) -> (response: HTTPResponse, body: [UInt8]) {
        isGrant(request) ? grant(request, body: body) : send(request, body: body)
    }

    /// Whether a request is for the token endpoint.
    func isGrant(_ request: HTTPRequest) -> Bool { request.path?.hasPrefix("/token") == true }
}
