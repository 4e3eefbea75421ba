/// A secure payload as a store keeps it: who may read it and how often, and bytes that mean nothing without the key.
///
/// Sender and addressee are the tags of their users, because that is how user names are compared.
package struct SealedPayload: Sendable, Equatable {
    /// Why it can no longer be read.
    package enum Ending: String, Sendable { case expired, exhausted, revoked }

    /// Most attempts that are remembered for one payload.
    package static let maximumReadsKept = 200

    package var id: String
    package var sender: Tag
    package var addressee: Tag
    package var expiration: Timestamp
    package var maximumReads: Int?
    /// Nonce, ciphertext and authentication tag; nil once it can no longer be read.
    package var sealed: [UInt8]?
    /// By which the key that sealed it is known; empty where that is not known.
    package var keyMark: [UInt8]
    package var grantedReads: Int
    package private(set) var ending: Ending?
    /// Oldest first. Of more than 200 the oldest that was refused makes room, then the oldest of all.
    package private(set) var reads: [SecureRead]

    package init(
        id: String, sender: Tag, addressee: Tag, expiration: Timestamp, maximumReads: Int? = nil,
        sealed: [UInt8]? = nil, keyMark: [UInt8] = [], grantedReads: Int = 0, ending: Ending? = nil, reads: [SecureRead] = []
    ) {
        self.id = id
        self.sender = sender
        self.addressee = addressee
        self.expiration = expiration
        self.maximumReads = maximumReads
        self.sealed = sealed
        self.keyMark = keyMark
        self.grantedReads = grantedReads
        self.ending = ending
        self.reads = reads
    }

    package var isLive: Bool { ending == nil }

    /// For good, and the ciphertext goes with it. One that has ended stays as it ended.
    package mutating func end(_ ending: Ending) {
        guard isLive else { return }
        self.ending = ending
        sealed = nil
    }

    /// Expires before its time, in favour of a newer one.
    package mutating func giveWay(at now: Timestamp) {
        expiration = min(expiration, now)
        end(.expired)
    }

    /// What `user` would be answered at `now`. Only the addressee learns how it ended.
    func answer(to user: Tag, at now: Timestamp) -> SecureRead.Result {
        guard user == addressee else { return .forbidden }
        switch ending {
        case .expired: return .expired
        case .exhausted: return .exhausted
        case .revoked: return .revoked
        case nil: return expiration <= now ? .expired : .granted
        }
    }

    /// Writes an attempt down and draws what follows from it: the last read that was allowed ends the payload.
    mutating func record(_ read: SecureRead) {
        if reads.count >= Self.maximumReadsKept {
            reads.remove(at: reads.firstIndex { $0.result != .granted } ?? 0)
        }
        reads.append(read)
        switch read.result {
        case .granted:
            grantedReads += 1
            if let maximumReads, grantedReads >= maximumReads { end(.exhausted) }
        case .expired: end(.expired)
        case .forbidden, .exhausted, .revoked, .vetoed: break
        }
    }
}
