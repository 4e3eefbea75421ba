/// Memory that is reserved for the requests of a connection of HTTP/1.1, or of a stream of HTTP/2, in the order in which they came.
final class RequestReservations {
    /// Of a request that is not answered yet, in bytes.
    struct Claim {
        /// For the request itself, until its answer was taken.
        var request = 0
        /// For its body, until it is answered.
        var body = 0
        /// For its answer, until the client has taken it; first as much as is expected, then as much as it has.
        var answer = 0
        /// Bytes of the answer that were written.
        var written = 0
        /// As much as is expected for the answer, until it is reserved: when the answers before it were given.
        var expected = 0
    }

    /// Whose account it is; nil for none.
    var connection: ConnectionGuard?
    private var claims: [Claim] = []
    private var total = 0

    var isEmpty: Bool { claims.isEmpty }

    func reserve(_ bytes: Int) -> Bool {
        guard connection?.reserve(bytes) ?? true else { return false }
        total += bytes
        return true
    }

    func release(_ bytes: Int) {
        // What went with the channel was released with it.
        let bytes = min(bytes, total)
        guard bytes > 0 else { return }
        total -= bytes
        connection?.release(bytes)
    }

    /// The channel is gone.
    func releaseAll() {
        claims = []
        release(total)
        connection = nil
    }

    /// For a request that begins, or that waits; nil where there is no memory left.
    func claim() -> Claim? { reserve(ConnectionLimits.requestBytes) ? Claim(request: ConnectionLimits.requestBytes) : nil }

    func release(_ claim: Claim) { release(claim.request + claim.body) }

    /// False where there is no memory left for the expected answer; then the claim is released. Of requests that come behind others on a
    /// connection of HTTP/1.1, whose answers are made one after the other, only the first one has an answer reserved.
    func begin(_ claim: Claim, answer: Int) -> Bool {
        var claim = claim
        guard claims.isEmpty else {
            claim.expected = answer
            claims.append(claim)
            return true
        }
        guard reserve(answer) else {
            release(claim)
            return false
        }
        claim.answer = answer
        claims.append(claim)
        return true
    }

    /// Begins a request for which nothing is reserved, to be refused.
    func beginRefused() { claims.append(Claim()) }

    /// For a part of the last request's body. False where there is no memory left.
    func reserveBody(_ bytes: Int) -> Bool {
        // Of a request that was answered, nothing is kept.
        guard !claims.isEmpty else { return true }
        guard reserve(bytes) else { return false }
        claims[claims.count - 1].body += bytes
        return true
    }

    /// Reserves as much for the first request's answer as it has, instead of what was expected. False where there is no memory left.
    func reserveAnswer(_ bytes: Int) -> Bool {
        guard !claims.isEmpty else { return true }
        let more = bytes - claims[0].answer
        guard more <= 0 || reserve(more) else { return false }
        claims[0].answer = bytes
        release(max(0, -more))
        return true
    }

    /// Counts what is written of the first request's answer. False where it has more than its head said, and no memory is left for that.
    func countWritten(_ bytes: Int) -> Bool {
        guard !claims.isEmpty else { return true }
        claims[0].written += bytes
        let excess = claims[0].written - claims[0].answer
        guard excess > 0 else { return true }
        guard reserve(excess) else { return false }
        claims[0].answer += excess
        return true
    }

    /// Releases what an answered request needs no more, its body among others. What was written is released as the client takes it, and
    /// the request itself, whose bytes are answered, behind that.
    func endFirst() -> Int {
        guard !claims.isEmpty else { return 0 }
        let claim = claims.removeFirst()
        release(claim.body + max(0, claim.answer - claim.written))
        // Where there is no memory left now, its answer is refused once its size is known.
        if let next = claims.first, reserve(next.expected) { claims[0].answer = next.expected }
        return claim.request
    }
}
