/// Where secure payloads lie, sealed. Every call is one step: nothing comes between what it reads and what it writes.
package protocol SecurePayloadStore: Sendable {
    /// Keeps a new payload, unless its id is in use, or its addressee has `limit` that can still be read, or `perSender` of the
    /// same sender that can be and never were.
    func insert(_ payload: SealedPayload, limit: Int, perSender: Int) async throws(PushError) -> SecurePayloadInsertion
    func payload(_ id: String) async throws(PushError) -> SealedPayload?
    /// Those that an addressee can still read, the first that expires first.
    func readable(by addressee: Tag) async throws(PushError) -> [SealedPayload]
    /// How many can still be read, by the mark of the key that they are sealed with.
    func readableByKey() async throws(PushError) -> [[UInt8]: Int]
    /// Some that can still be read, of which nobody knows the key that they are sealed with.
    func unmarked(limit: Int) async throws(PushError) -> [SealedPayload]
    /// Keeps what `change` makes of the payload, and nothing when it throws. Nil when there is no such payload.
    func update<Result: Sendable>(
        _ id: String, _ change: @escaping @Sendable (inout SealedPayload) throws(PushError) -> Result
    ) async throws(PushError) -> Result?
    func remove(_ id: String) async throws(PushError)
    /// Ends what has expired by `now`, and forgets whatever expired longer than `retention` ago. Answers how many ended.
    func sweep(now: Timestamp, retention: Duration) async throws(PushError) -> Int
}

package enum SecurePayloadInsertion: Sendable, Equatable {
    case inserted
    case idInUse
    /// The addressee has as many as the limit allows.
    case full
    /// The addressee has as many unread ones of its sender.
    case fullOfSender
}
