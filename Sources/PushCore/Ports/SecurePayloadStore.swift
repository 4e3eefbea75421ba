/// Where secure payloads lie, sealed. Every call is one step: nothing comes between what it reads and what it writes.
package protocol SecurePayloadStore: Sendable {
    /// Keeps a new payload, unless its id is in use or there is no place for it. Where another one has to give way, it expires `now`.
    func insert(
        _ payload: SealedPayload, limit: SecurePayloadLimit, now: Timestamp
    ) async throws(PushError) -> SecurePayloadInsertion
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
    /// Another one, which is given as it was, has expired for it.
    case insertedInstead(of: SealedPayload)
    case idInUse
    /// The addressee has as many as the limit allows, and none was ever read.
    case full
    /// The same of its sender.
    case fullOfSender
}

/// Most payloads that an addressee can have which can still be read.
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
        /// Of the sender who wants to send another one.
        package var isOfSender: Bool
        package var wasRead: Bool

        package init(id: String, isOfSender: Bool, wasRead: Bool) {
            self.id = id
            self.isOfSender = isOfSender
            self.wasRead = wasRead
        }
    }

    package enum Place: Sendable, Equatable {
        case free
        /// Free once the payload with this id has given way.
        case held(String)
        case none(SecurePayloadInsertion)
    }

    /// Where a new payload goes. What was read before gives way, first to its own sender: whoever fetches everything at once is
    /// sent to without an end, and nobody fills the room of others.
    ///
    /// - Parameter held: the first that expires first.
    package func place(among held: [Held]) -> Place {
        let own = held.filter(\.isOfSender)
        let isShareUsed = own.count >= ofSender
        guard isShareUsed || held.count >= all else { return .free }
        if let read = (isShareUsed ? own : held).first(where: \.wasRead) { return .held(read.id) }
        return .none(held.count >= all ? .full : .fullOfSender)
    }
}
