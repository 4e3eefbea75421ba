/// A record of all requests and responses exchanged with push services, for `push.wire` and `--trace`.
package protocol WireTap: Sendable {
    /// The exchanges so far with `service`, or with all services if nil; oldest first.
    func exchanges(with service: Platform?) async throws(PushError) -> [WireExchange]
}
