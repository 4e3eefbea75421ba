/// Faults that a rehearsal orders of the simulated push services and of the wires to them. `.gcm` means the service of
/// `.fcmV1`: both have one wire.
package protocol ServiceFaults: Sendable {
    /// The words that `fail` takes for this service: its own, where it has any; those of its token endpoint, where it has one.
    func reasons(of service: Platform, at place: OrderedRefusal.Place) -> [String]

    /// Refuses what the service would accept. Refusals with a count are used up first, in the order in which they were
    /// ordered; then those for a share, then one without a count that is for this device alone, then one for all.
    ///
    /// Throws
    /// - `simulator.reason` for a word that the service does not have, with the nearest as a hint;
    /// - `simulator.handle` for a handle of another service, and for one where access tokens are asked for;
    /// - `simulator.retry_after` for a pause where the word's answer names none, or a longer one than any may name;
    /// - `simulator.share` for a share that is none;
    /// - `simulator.token` where the service gives out no access tokens.
    func fail(_ service: Platform, with refusal: OrderedRefusal) async throws(PushError)

    /// Makes all access tokens bad that the service has given out, as if they had expired. Throws `simulator.token` where it
    /// gives out none.
    func revokeTokens(of service: Platform) async throws(PushError)

    /// Every request to the service, those for access tokens too, takes this much longer to arrive.
    func setLatency(_ latency: Duration, of service: Platform) async throws(PushError)

    /// Breaks the next `count` connections that carry a notification: before the request is taken, or after, when the
    /// sender cannot know what became of it.
    func breakConnections(_ service: Platform, count: Int, afterRequest: Bool) async throws(PushError)

    /// Ends every fault of the service and of its wire. Access tokens that were made bad stay so.
    func clear(_ service: Platform) async throws(PushError)
}

/// Refusals that are ordered of a simulated push service.
package struct OrderedRefusal: Sendable, Equatable {
    /// What is refused.
    package enum Place: String, Sendable, CaseIterable {
        /// Notifications.
        case send
        /// Access tokens, for which senders ask at an endpoint of their own.
        case token
    }

    /// The service's word, or at the token endpoint that of RFC 6749.
    package var reason: String
    package var place: Place
    /// Of the next ones; of all until they are taken back for nil.
    package var count: Int?
    /// The one device that is refused; all for nil.
    package var handle: DeviceHandle?
    /// The part that is refused, above 0 and up to 1, drawn by lot for each.
    package var share: Double
    /// Seconds that the answer names in `Retry-After`; those that go with the word for nil.
    package var retryAfter: Int?

    package init(
        _ reason: String, at place: Place = .send, count: Int? = nil, handle: DeviceHandle? = nil, share: Double = 1,
        retryAfter: Int? = nil
    ) {
        self.reason = reason
        self.place = place
        self.count = count
        self.handle = handle
        self.share = share
        self.retryAfter = retryAfter
    }

    /// Throws `simulator.share` unless it is above 0 and at most 1.
    package static func check(share: Double) throws(PushError) {
        guard share > 0, share <= 1 else {
            throw PushError(
                "simulator.share", "a share is above 0 and at most 1, and not \(share)",
                hint: "0.01 is one of a hundred, drawn by lot; leave it out for all", status: 400)
        }
    }

    /// Throws `simulator.retry_after` unless it is a whole number of seconds from 0 to 1,000,000.
    package static func seconds(of pause: Duration) throws(PushError) -> Int {
        let seconds = pause.components.seconds
        guard pause.components.attoseconds == 0, (0...1_000_000).contains(seconds) else {
            throw PushError(
                "simulator.retry_after", "Retry-After is a whole number of seconds from 0 to 1000000, and not \(pause)",
                hint: "give a pause such as \"30s\"", status: 400)
        }
        return Int(seconds)
    }
}
