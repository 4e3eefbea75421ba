/// Faults that a rehearsal orders of the simulated push services and of the wires to them. `.gcm` means the service of
/// `.fcmV1`: both have one wire.
package protocol ServiceFaults: Sendable {
    /// The words that `fail` takes for this service: its own, where it has any.
    func reasons(of service: Platform) -> [String]

    /// Refuses the next `count` notifications that the service would accept, all until `clear` for nil; those of one
    /// device, or of all. Refusals with a count are used up first, in the order in which they were ordered; then one
    /// without a count that is for this device alone, then one for all.
    ///
    /// Throws `simulator.reason` for a word that the service does not have, with the nearest as a hint, and
    /// `simulator.handle` for a handle of another service.
    func fail(_ service: Platform, reason: String, count: Int?, handle: DeviceHandle?) async throws(PushError)

    /// Every request to the service, those for access tokens too, takes this much longer to arrive.
    func setLatency(_ latency: Duration, of service: Platform) async throws(PushError)

    /// Breaks the next `count` connections that carry a notification: before the request is taken, or after, when the
    /// sender cannot know what became of it.
    func breakConnections(_ service: Platform, count: Int, afterRequest: Bool) async throws(PushError)

    /// Ends every fault of the service and of its wire.
    func clear(_ service: Platform) async throws(PushError)
}
