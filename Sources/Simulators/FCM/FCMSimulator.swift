import CryptoExtras
import HTTPTypes
import Synchronization

/// A stand-in for FCM's HTTP v1 API and for the OAuth 2.0 token endpoint in front of it.
///
/// It answers `POST https://oauth2.googleapis.com/token` (RFC 7523) and
/// `POST https://fcm.googleapis.com/v1/projects/<id>/messages:send` (Google, "REST Resource: projects.messages").
package final class FCMSimulator: RefusingService {
    struct State: Sendable {
        var settings: FCMSimulatorSettings
        var grants: [String: FCMGrant] = [:]
        var messages = RateMeter(window: 60_000)
    }

    let lab: PhoneLab
    let clock: SimulatorClock
    let random: SimulatorRandom
    let state: Mutex<State>
    package let faults: FaultScript<FCMReason>
    package let grantFaults: FaultScript<GrantReason>?

    /// - Parameter chance: What refusals of a share of all notifications are drawn with; `random` for nil.
    package init(
        lab: PhoneLab, clock: SimulatorClock, random: SimulatorRandom, settings: FCMSimulatorSettings, chance: SimulatorRandom? = nil
    ) {
        self.lab = lab
        self.clock = clock
        self.random = random
        faults = FaultScript(random: chance ?? random)
        grantFaults = FaultScript(random: chance ?? random)
        state = Mutex(State(settings: settings))
    }

    package var hosts: Set<String> { ["fcm.googleapis.com", "oauth2.googleapis.com"] }

    /// Registers a key of the service account; a key of the same id is replaced.
    package func trust(key: _RSA.Signing.PublicKey, kid: String) {
        state.withLock { $0.settings.keys[kid] = key }
    }

    /// Deletes a key of the service account; access tokens that were given out stay good.
    package func revoke(kid: String) {
        state.withLock { _ = $0.settings.keys.removeValue(forKey: kid) }
    }

    /// Makes all access tokens that were given out bad.
    package func revokeAccessTokens() {
        state.withLock { $0.grants = [:] }
    }

    /// Changes any of the settings.
    package func update(_ change: @Sendable (inout FCMSimulatorSettings) -> Void) {
        state.withLock { change(&$0.settings) }
    }

    package func respond(to request: HTTPRequest, body: [UInt8]) -> (response: HTTPResponse, body: [UInt8]) {
        isGrant(request) ? grant(request, body: body) : send(request, body: body)
    }

    /// Whether a request asks for an access token.
    func isGrant(_ request: HTTPRequest) -> Bool { request.path?.hasPrefix("/token") == true }
}
