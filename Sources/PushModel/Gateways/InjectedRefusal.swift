/// A refusal to inject into a simulated push service.
package struct InjectedRefusal: Sendable, Equatable {
    /// The kind of request to refuse.
    package enum RequestKind: String, Sendable, CaseIterable {
        /// Notifications.
        case send
        /// Requests for access tokens, at the service's token endpoint.
        case token
    }

    /// The service's error code; at the token endpoint, that of RFC 6749.
    package var reason: String
    package var requestKind: RequestKind
    /// Number of requests to refuse; nil: all until cleared.
    package var count: Int?
    /// The device to refuse; nil: all.
    package var handle: DeviceHandle?
    /// The share of requests to refuse, chosen at random: above 0 and at most 1.
    package var share: Double
    /// The seconds in `Retry-After`; nil: the default for the reason.
    package var retryAfter: Int?

    package init(
        _ reason: String, at requestKind: RequestKind = .send, count: Int? = nil, handle: DeviceHandle? = nil, share: Double = 1,
        retryAfter: Int? = nil
    ) {
        self.reason = reason
        self.requestKind = requestKind
        self.count = count
        self.handle = handle
        self.share = share
        self.retryAfter = retryAfter
    }

    /// Throws `simulator.share` unless it is above 0 and at most 1.
    package static func check(share: Double) throws(PushError) {
        guard share > 0, share <= 1 else {
            throw PushError(
                "simulator.share", "invalid share \(share): it must be above 0 and at most 1",
                hint: "0.01 is one in a hundred, chosen at random; omit it for all", status: 400)
        }
    }

    /// Throws `simulator.retry_after` unless it is a whole number of seconds from 0 to 1,000,000.
    package static func seconds(of pause: Duration) throws(PushError) -> Int {
        let seconds = pause.components.seconds
        guard pause.components.attoseconds == 0, (0...1_000_000).contains(seconds) else {
            throw PushError(
                "simulator.retry_after", "invalid Retry-After \(pause): it must be a whole number of seconds from 0 to 1000000",
                hint: "use a pause such as \"30s\"", status: 400)
        }
        return Int(seconds)
    }
}
