/// Stores sealed secure payloads. Every call is atomic.
package protocol SecurePayloadStore: Sendable {
    /// Stores a new payload, unless its id is in use or a limit is reached. If another payload has to make room, that one expires `now`.
    func insert(
        _ payload: SealedPayload, limit: SecurePayloadLimit, now: Timestamp
    ) async throws(PushError) -> SecurePayloadInsertion
    func payload(_ id: String) async throws(PushError) -> SealedPayload?
    /// Payloads that an addressee can still read, in the order of their expiration.
    func readable(by addressee: Tag) async throws(PushError) -> [SealedPayload]
    /// Number of readable payloads by the mark of the key that sealed them.
    func readableByKey() async throws(PushError) -> [[UInt8]: Int]
    /// At most `limit` readable payloads whose key is unknown.
    func unmarked(limit: Int) async throws(PushError) -> [SealedPayload]
    /// Applies `change` to the payload and stores the result; stores nothing if `change` throws. Nil if there is no such payload.
    func update<Result: Sendable>(
        _ id: String, _ change: @escaping @Sendable (inout SealedPayload) throws(PushError) -> Result
    ) async throws(PushError) -> Result?
    func remove(_ id: String) async throws(PushError)
    /// Ends payloads that have expired by `now`, and deletes those that expired more than `retention` ago. Returns how many it ended.
    func sweep(now: Timestamp, retention: Duration) async throws(PushError) -> Int
}

package enum SecurePayloadInsertion: Sendable, Equatable {
    case inserted
    /// Inserted; another payload, given in its previous state, was expired to make room.
    case displacedOther(of: SealedPayload)
    case idInUse
    /// The addressee has reached the limit, and no payload was ever read.
    case full
    /// The sender has reached the limit for this addressee, and none of the payloads was ever read.
    case senderIsFull
}

/// Maximum number of readable payloads of an addressee.
package struct SecurePayloadLimit: Sendable {
    package var all: Int
    package var ofSender: Int

    package init(all: Int, ofSender: Int) {
        self.all = all
        self.ofSender = ofSender
    }

    /// A payload that its addressee can still read.
    package struct Held: Sendable {
        package var id: String
        /// Whether it is from the sender of the new payload.
        package var isFromSender: Bool
        package var wasRead: Bool

        package init(id: String, isFromSender: Bool, wasRead: Bool) {
            self.id = id
            self.isFromSender = isFromSender
            self.wasRead = wasRead
        }
    }

    package enum Place: Sendable, Equatable {
        case free
        /// Free once the payload with this id has been expired.
        case held(String)
        case none(SecurePayloadInsertion)
    }

    /// Decides whether a new payload fits. Payloads that were read are expired first, those of the same sender before others. So an
    /// addressee that reads at once can always receive more, and a sender cannot use up the share of others.
    ///
    /// - Parameter held: in the order of their expiration.
    package func place(among held: [Held]) -> Place {
        let own = held.filter(\.isFromSender)
        let isShareUsed = own.count >= ofSender
        guard isShareUsed || held.count >= all else { return .free }
        if let read = (isShareUsed ? own : held).first(where: \.wasRead) { return .held(read.id) }
        return .none(held.count >= all ? .full : .senderIsFull)
    }
}
