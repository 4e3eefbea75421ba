/// Injects faults into the simulated push services and the connections to them. `.gcm` means the service of `.fcmV1`, with which it shares
/// a connection.
package protocol ServiceFaults: Sendable {
    /// The reasons that `fail` accepts for this service or its token endpoint; empty if it has none.
    func reasons(of service: Platform, at requestKind: InjectedRefusal.RequestKind) -> [String]

    /// Rejects requests that the service would accept. Refusals with a count apply first, in the order in which they were added; then those
    /// with a share; then one without a count for the device; then one for all devices.
    ///
    /// Throws
    /// - `simulator.reason` for an unknown reason, with the nearest one as a hint;
    /// - `simulator.handle` for a handle of another service, or any handle at the token endpoint;
    /// - `simulator.retry_after` for a pause that is too long, or with a reason whose response has none;
    /// - `simulator.share` for an invalid share;
    /// - `simulator.token` if the service issues no access tokens.
    func fail(_ service: Platform, with refusal: InjectedRefusal) async throws(PushError)

    /// Invalidates all access tokens that the service has issued, as if they had expired. Throws `simulator.token` if it issues none.
    func revokeTokens(of service: Platform) async throws(PushError)

    /// Delays every request to the service, including requests for access tokens.
    func setLatency(_ latency: Duration, of service: Platform) async throws(PushError)

    /// Breaks the next `count` connections that carry a notification: before the request is accepted, or after it, so that the sender
    /// cannot know the result.
    func breakConnections(_ service: Platform, count: Int, afterRequest: Bool) async throws(PushError)

    /// Removes every fault of the service and its connections. Invalidated access tokens stay invalid.
    func clear(_ service: Platform) async throws(PushError)
}
