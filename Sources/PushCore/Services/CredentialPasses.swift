/// Sessions of those who prove at every request who they are, in memory alone: what was proved once holds for a while. Part of an
/// actor's state.
struct CredentialPasses: Sendable {
    /// What a pass holds by.
    enum Basis: Sendable, Equatable {
        /// The account still has this hash.
        case account(PasswordHash)
        /// The name still has no account.
        case tutorial
        /// The issuer of a token answers for the name.
        case issuer
    }

    struct Pass: Sendable {
        let session: Session
        let user: Tag
        let basis: Basis
        /// From then on the credentials must be proved anew.
        let staleAt: Timestamp
    }

    /// For how long proved credentials are taken as proved.
    static let freshness: Duration = .seconds(300)
    /// A request that began with a pass may end with it.
    static let lifetime: Duration = .seconds(600)
    static let maximumCount = 10_000

    private var passes: [[UInt8]: Pass] = [:]
    /// The tokens' digests by what the credentials have as their mark.
    private var digests: [[UInt8]: [UInt8]] = [:]
    private var line = Line<(digest: [UInt8], mark: [UInt8], end: Timestamp)>()

    /// By the digest of its token.
    func pass(_ digest: [UInt8]) -> Pass? { passes[digest] }

    func pass(mark: [UInt8]) -> Pass? { digests[mark].flatMap { passes[$0] } }

    /// The oldest make room.
    mutating func insert(_ pass: Pass, digest: [UInt8], mark: [UInt8], now: Timestamp) {
        while let first = line.first, first.end <= now || line.count >= Self.maximumCount {
            line.removeFirst(1)
            remove(first.digest)
            if digests[first.mark] == first.digest { digests[first.mark] = nil }
        }
        passes[digest] = pass
        digests[mark] = digest
        line.append((digest: digest, mark: mark, end: now + Self.lifetime))
    }

    mutating func remove(_ digest: [UInt8]) { passes[digest] = nil }
}
