/// A secure payload as stored: its access rules, and the ciphertext.
///
/// Sender and recipient are stored as user tags, because user names are compared by tag.
package struct SealedPayload: Sendable, Equatable {
    /// The reason why the payload can no longer be read.
    package enum Ending: String, Sendable { case expired, exhausted, revoked }

    /// The read attempts, and how the payload ended.
    package struct History: Sendable, Equatable {
        /// Maximum number of read attempts recorded per payload.
        package static let maximumRecordedReads = 200

        package fileprivate(set) var grantedReads: Int
        package fileprivate(set) var ending: Ending?
        /// Oldest first. Above 200, the oldest refused attempt is dropped first, then the oldest of all.
        package private(set) var reads: [SecureRead]

        package init(grantedReads: Int = 0, ending: Ending? = nil, reads: [SecureRead] = []) {
            self.grantedReads = grantedReads
            self.ending = ending
            self.reads = reads
        }

        fileprivate mutating func record(_ read: SecureRead) {
            if reads.count >= Self.maximumRecordedReads {
                reads.remove(at: reads.firstIndex { $0.result != .granted } ?? 0)
            }
            reads.append(read)
            if read.result == .granted { grantedReads += 1 }
        }
    }

    package var id: String
    package var sender: Tag
    package var recipient: Tag
    package var expiration: Timestamp
    package var maximumReads: Int?
    /// Nonce, ciphertext and authentication tag; nil once the payload can no longer be read.
    package var sealed: [UInt8]?
    /// Identifies the key that sealed the payload; empty if unknown.
    package var keyMark: [UInt8]
    package private(set) var history: History

    package init(
        id: String, sender: Tag, recipient: Tag, expiration: Timestamp, maximumReads: Int? = nil,
        sealed: [UInt8]? = nil, keyMark: [UInt8] = [], history: History = History()
    ) {
        self.id = id
        self.sender = sender
        self.recipient = recipient
        self.expiration = expiration
        self.maximumReads = maximumReads
        self.sealed = sealed
        self.keyMark = keyMark
        self.history = history
    }

    package var grantedReads: Int { history.grantedReads }
    package var ending: Ending? { history.ending }
    package var reads: [SecureRead] { history.reads }
    package var isLive: Bool { ending == nil }

    /// Ends the payload for good and deletes the ciphertext. Does nothing if it has already ended.
    package mutating func end(_ ending: Ending) {
        guard isLive else { return }
        history.ending = ending
        sealed = nil
    }

    /// Expires early to make room for a newer payload.
    package mutating func expireEarly(at now: Timestamp) {
        expiration = min(expiration, now)
        end(.expired)
    }

    /// The result for a read by `user` at `now`. Only the recipient learns how the payload ended.
    package func answer(to user: Tag, at now: Timestamp) -> SecureRead.Result {
        guard user == recipient else { return .forbidden }
        switch ending {
        case .expired: return .expired
        case .exhausted: return .exhausted
        case .revoked: return .revoked
        case nil: return expiration <= now ? .expired : .granted
        }
    }

    /// Records an attempt and applies its effect: the last permitted read ends the payload.
    package mutating func record(_ read: SecureRead) {
        history.record(read)
        switch read.result {
        case .granted:
            if let maximumReads, grantedReads >= maximumReads { end(.exhausted) }
        case .expired: end(.expired)
        case .forbidden, .exhausted, .revoked, .vetoed: break
        }
    }
}
