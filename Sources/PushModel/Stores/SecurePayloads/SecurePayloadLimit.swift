/// Maximum number of readable payloads of a recipient.
package struct SecurePayloadLimit: Sendable {
    package var all: Int
    package var ofSender: Int

    package init(all: Int, ofSender: Int) {
        self.all = all
        self.ofSender = ofSender
    }

    /// A payload that its recipient can still read.
    package struct Readable: Sendable {
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

    package enum Decision: Sendable, Equatable {
        case free
        /// Fits once the payload with this id has been expired.
        case displacing(String)
        case none(SecurePayloadInsertion)
    }

    /// Decides whether a new payload fits. Payloads that were read are expired first, those of the same sender before others. So a
    /// recipient that reads at once can always receive more, and a sender cannot use up the share of others.
    ///
    /// - Parameter readable: in the order of their expiration.
    package func decision(among readable: [Readable]) -> Decision {
        let own = readable.filter(\.isFromSender)
        let isShareUsed = own.count >= ofSender
        guard isShareUsed || readable.count >= all else { return .free }
        if let read = (isShareUsed ? own : readable).first(where: \.wasRead) { return .displacing(read.id) }
        return .none(readable.count >= all ? .full : .senderIsFull)
    }
}
