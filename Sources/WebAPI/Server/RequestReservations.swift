import HTTPTypes

/// Memory reserved for the requests of an HTTP/1.1 connection or an HTTP/2 stream, in order of arrival.
final class RequestReservations {
    /// Bytes reserved for an unanswered request.
    struct Claim {
        /// The request itself, until its response was received; over HTTP/2 until its stream is closed.
        var request = 0
        /// Its body, until it is answered.
        var body = 0
        /// Its response, until the client has received it: first the expected size, then the actual one.
        var answer = 0
        /// Bytes of the response written so far.
        var written = 0
        /// Expected size of a response that is not reserved yet, because earlier responses come first.
        var expected = 0
    }

    /// The connection's guard, which owns the account; nil: nothing is reserved.
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
        // Reservations of a closed channel have already been released.
        let bytes = min(bytes, total)
        guard bytes > 0 else { return }
        total -= bytes
        connection?.release(bytes)
    }

    /// Releases everything when the channel has closed.
    func releaseAll() {
        claims = []
        release(total)
        connection = nil
    }

    /// Makes a reservation for a request that begins or waits; nil if there is no memory left.
    func claim(for request: HTTPRequest) -> Claim? {
        let bytes = ConnectionLimits.requestBytes + request.headBytes
        return reserve(bytes) ? Claim(request: bytes) : nil
    }

    func release(_ claim: Claim) { release(claim.request + claim.body) }

    /// Begins a request. If there is no memory for the expected response, releases the claim and returns false. HTTP/1.1 responses are made
    /// one after the other, so only the first request has its response reserved.
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

    /// Begins a request without a reservation, to reject it.
    func beginRefused() { claims.append(Claim()) }

    /// Reserves memory for a part of the last request's body. Returns false if there is none left.
    func reserveBody(_ bytes: Int) -> Bool {
        // Nothing is stored of a request that was already answered.
        guard !claims.isEmpty else { return true }
        guard reserve(bytes) else { return false }
        claims[claims.count - 1].body += bytes
        return true
    }

    /// Replaces the expected size of the first request's response by its actual size. Returns false if there is no memory left.
    func reserveAnswer(_ bytes: Int) -> Bool {
        guard !claims.isEmpty else { return true }
        let more = bytes - claims[0].answer
        guard more <= 0 || reserve(more) else { return false }
        claims[0].answer = bytes
        release(max(0, -more))
        return true
    }

    /// Counts written bytes of the first request's response. Returns false if it exceeds the announced size and there is no memory for
    /// that.
    func countWritten(_ bytes: Int) -> Bool {
        guard !claims.isEmpty else { return true }
        claims[0].written += bytes
        let excess = claims[0].written - claims[0].answer
        guard excess > 0 else { return true }
        guard reserve(excess) else { return false }
        claims[0].answer += excess
        return true
    }

    /// Ends the first request: releases its body and the unused part of its response. Returns the bytes of the request itself, which the
    /// caller of an HTTP/1.1 connection releases after those written.
    func endFirst() -> Int {
        guard !claims.isEmpty else { return 0 }
        let claim = claims.removeFirst()
        release(claim.body + max(0, claim.answer - claim.written))
        // If this reservation fails, the response is rejected once its size is known.
        if let next = claims.first, reserve(next.expected) { claims[0].answer = next.expected }
        return claim.request
    }
}

extension HTTPRequest {
    /// Bytes of the address and the header fields.
    fileprivate var headBytes: Int {
        headerFields.reduce((path?.utf8.count ?? 0) + (authority?.utf8.count ?? 0)) {
            $0 + $1.name.rawName.utf8.count + $1.value.utf8.count
        }
    }
}
