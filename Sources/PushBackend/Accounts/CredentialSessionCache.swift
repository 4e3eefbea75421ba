import Crypto
import PushModel

/// Cached sessions of clients that send their credentials with every request; in memory only. Not thread-safe: it is part of the state of
/// the actor that owns it.
struct CredentialSessionCache: Sendable {
    /// The data on which the validity of a pass depends.
    enum Basis: Sendable, Equatable {
        /// The account still has this hash.
        case account(PasswordHash)
        /// The name still has no account.
        case tutorial
        /// A token issuer has authenticated the name.
        case issuer
    }

    struct Pass: Sendable {
        let session: Session
        let user: Tag
        let basis: Basis
        /// When the credentials must be verified again.
        let staleAt: Timestamp
    }

    /// How long verified credentials stay verified.
    static let freshness: Duration = .seconds(300)
    /// Longer than `freshness`, so that a request that started with a pass can end with it.
    static let lifetime: Duration = .seconds(600)
    static let maximumCount = 10_000

    /// Random at every start: marks of credentials are valid in this process only.
    private let markKey = SymmetricKey(size: .bits256)
    private var passes: [[UInt8]: Pass] = [:]
    /// Digests of session tokens, by the marks (keyed hashes) of the credentials.
    private var digests: [[UInt8]: [UInt8]] = [:]
    private var line = FIFOQueue<(digest: [UInt8], mark: [UInt8], end: Timestamp)>()

    /// The pass with this token digest.
    func pass(_ digest: [UInt8]) -> Pass? { passes[digest] }

    func pass(mark: [UInt8]) -> Pass? { digests[mark].flatMap { passes[$0] } }

    /// The keyed hash by which credentials are recognized.
    ///
    /// - Parameters:
    ///   - header: the credentials as received.
    ///   - address: nil if they are valid from every address.
    func mark(of header: Secret, from address: String? = nil) -> [UInt8] {
        let text = Array("\(header.reveal())\0\(address ?? "")".utf8)
        return Array(HMAC<SHA256>.authenticationCode(for: text, using: markKey))
    }

    /// Adds a session. Evicts expired ones, and the oldest ones if the cache is full.
    mutating func insert(_ session: Session, of user: Tag, by basis: Basis, digest: [UInt8], mark: [UInt8], now: Timestamp) {
        while let first = line.first, first.end <= now || line.count >= Self.maximumCount {
            line.removeFirst(1)
            remove(first.digest)
            if digests[first.mark] == first.digest { digests[first.mark] = nil }
        }
        passes[digest] = Pass(
            session: session, user: user, basis: basis, staleAt: min(session.expiration, now + Self.freshness))
        digests[mark] = digest
        line.append((digest: digest, mark: mark, end: now + Self.lifetime))
    }

    mutating func remove(_ digest: [UInt8]) { passes[digest] = nil }
}
