/// Stores sealed secure payloads. Every call is atomic.
package protocol SecurePayloadStore: PayloadKeyReader {
    /// Stores a new payload, unless its id is in use or a limit is reached. If another payload has to make room, that one expires `now`.
    func insert(
        _ payload: SealedPayload, limit: SecurePayloadLimit, now: Timestamp
    ) async throws(PushError) -> SecurePayloadInsertion
    func payload(_ id: String) async throws(PushError) -> SealedPayload?
    /// Payloads that a recipient can still read, in the order of their expiration.
    func readable(by recipient: Tag) async throws(PushError) -> [SealedPayload]
    /// Applies `change` to the payload and stores the result; stores nothing if `change` throws. Nil if there is no such payload.
    func update<Result: Sendable>(
        _ id: String, _ change: @escaping @Sendable (inout SealedPayload) throws(PushError) -> Result
    ) async throws(PushError) -> Result?
    func remove(_ id: String) async throws(PushError)
    /// Ends payloads that have expired by `now`, and deletes those that expired more than `retention` ago. Returns how many it ended.
    func sweep(now: Timestamp, retention: Duration) async throws(PushError) -> Int
}
