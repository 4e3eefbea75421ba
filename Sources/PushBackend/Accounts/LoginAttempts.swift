import PushModel

/// Limits failed logins per address, per account, and per pair of both. No more attempts are in progress than may still fail, so that
/// concurrent attempts cannot exceed a limit; others wait for their results.
///
/// Not thread-safe: it is part of the state of the actor that owns it.
struct LoginAttempts: Sendable {
    struct Attempt: Sendable {
        let account: String
        let address: String

        /// - Parameter user: nil for an invalid user name.
        init(user: Tag?, address: String) {
            account = user?.text.lowercased() ?? ""
            self.address = address
        }

        fileprivate var pair: String { "\(address) \(account)" }

        /// Whether the result of one attempt may decide the other.
        fileprivate func concerns(_ other: Attempt) -> Bool { account == other.account || address == other.address }
    }

    enum Answer: Sendable, Equatable {
        /// Admitted, and now in progress.
        case started
        /// Depends on attempts in progress; the caller must wait.
        case undecided
        /// As `undecided`, but too many attempts wait already.
        case queueIsFull
        /// Too many attempts have failed; the next one is allowed after this many seconds.
        case refused(Int)
    }

    /// Token buckets: the failures that remain for each key. They refill at a constant rate.
    private struct Allowances {
        let perMinute: Double
        private var buckets: [String: (count: Double, time: Timestamp)] = [:]
        private var inFlight: [String: Int] = [:]
        private static let maximumKeys = 50_000

        init(perMinute: Double) { self.perMinute = perMinute }

        /// Seconds until a failure is allowed; nil if one is allowed now.
        func wait(_ key: String, now: Timestamp) -> Int? {
            let count = count(key, now: now)
            return count >= 1 ? nil : max(1, Int(((1 - count) * 60 / perMinute).rounded(.up)))
        }

        /// Whether one more attempt is allowed even if all attempts in progress fail.
        func allowsAttempt(_ key: String, now: Timestamp) -> Bool { count(key, now: now) - Double(inFlight[key] ?? 0) >= 1 }

        mutating func begin(_ key: String) { inFlight[key, default: 0] += 1 }

        mutating func end(_ key: String, isFailure: Bool, now: Timestamp) {
            let rest = (inFlight[key] ?? 0) - 1
            inFlight[key] = rest > 0 ? rest : nil
            if isFailure { fail(key, now: now) }
        }

        /// - Parameter floor: lower bound of the remaining failures.
        mutating func fail(_ key: String, now: Timestamp, atLeast floor: Double = -.infinity) {
            if buckets.count >= Self.maximumKeys { evictFullBuckets(now: now) }
            buckets[key] = (count: max(floor, count(key, now: now) - 1), time: now)
        }

        private func count(_ key: String, now: Timestamp) -> Double {
            guard let bucket = buckets[key] else { return perMinute }
            return min(perMinute, bucket.count + Double(max(0, (now - bucket.time).milliseconds)) * perMinute / 60_000)
        }

        /// Forgets full buckets, then all but the emptiest ones. Otherwise trying many names would make the limiter forget the rest.
        private mutating func evictFullBuckets(now: Timestamp) {
            buckets = buckets.filter { count($0.key, now: now) < perMinute }
            guard buckets.count >= Self.maximumKeys else { return }
            let scarcest = buckets.sorted { count($0.key, now: now) < count($1.key, now: now) }.prefix(Self.maximumKeys / 2)
            buckets = Dictionary(uniqueKeysWithValues: Array(scarcest))
        }
    }

    static let perPair = 10
    static let perAddress = 100
    static let perAccount = 100
    /// Maximum number of waiting attempts per account and per address.
    static let maximumQueueLength = HashingLimiter.maximumQueueLength

    private var pairs = Allowances(perMinute: Double(perPair))
    private var addresses = Allowances(perMinute: Double(perAddress))
    private var accounts = Allowances(perMinute: Double(perAccount))

    /// Resumed with nil if the attempt is admitted, or with the seconds until it is allowed.
    typealias Waiter = CheckedContinuation<Int?, Never>

    private var line: [(attempt: Attempt, waiter: Waiter)] = []

    /// Seconds until credentials of this account are accepted again from this address, even verified ones; nil if they are now. Failures
    /// at other accounts or addresses do not count.
    func refusal(of attempt: Attempt, now: Timestamp) -> Int? { pairs.wait(attempt.pair, now: now) }

    /// Counts credentials that were neither verified before nor checked. They may have been a guess at verified ones, which would have got
    /// another answer.
    mutating func noteGuess(_ attempt: Attempt, now: Timestamp) {
        pairs.fail(attempt.pair, now: now, atLeast: -Double(Self.perPair))
    }

    mutating func begin(_ attempt: Attempt, now: Timestamp) -> Answer {
        let answer = answer(to: attempt, now: now)
        switch answer {
        case .started: begin(attempt)
        case .undecided where isLineFull(for: attempt): return .queueIsFull
        case .undecided, .queueIsFull, .refused: break
        }
        return answer
    }

    mutating func wait(_ attempt: Attempt, _ waiter: Waiter) { line.append((attempt: attempt, waiter: waiter)) }

    /// - Parameter isFailure: whether the password was wrong.
    mutating func end(_ attempt: Attempt, isFailure: Bool, now: Timestamp) {
        pairs.end(attempt.pair, isFailure: isFailure, now: now)
        addresses.end(attempt.address, isFailure: isFailure, now: now)
        accounts.end(attempt.account, isFailure: isFailure, now: now)
        var rest: [(attempt: Attempt, waiter: Waiter)] = []
        for (waiting, waiter) in line {
            switch waiting.concerns(attempt) ? answer(to: waiting, now: now) : .undecided {
            case .started:
                begin(waiting)
                waiter.resume(returning: nil)
            case .refused(let seconds): waiter.resume(returning: seconds)
            case .undecided, .queueIsFull: rest.append((attempt: waiting, waiter: waiter))
            }
        }
        line = rest
    }

    private func answer(to attempt: Attempt, now: Timestamp) -> Answer {
        let waits = [
            pairs.wait(attempt.pair, now: now), addresses.wait(attempt.address, now: now), accounts.wait(attempt.account, now: now),
        ]
        if let longest = waits.compactMap({ $0 }).max() { return .refused(longest) }
        let isAllowed =
            pairs.allowsAttempt(attempt.pair, now: now) && addresses.allowsAttempt(attempt.address, now: now)
            && accounts.allowsAttempt(attempt.account, now: now)
        return isAllowed ? .started : .undecided
    }

    private mutating func begin(_ attempt: Attempt) {
        pairs.begin(attempt.pair)
        addresses.begin(attempt.address)
        accounts.begin(attempt.account)
    }

    private func isLineFull(for attempt: Attempt) -> Bool {
        line.count { $0.attempt.account == attempt.account } >= Self.maximumQueueLength
            || line.count { $0.attempt.address == attempt.address } >= Self.maximumQueueLength
    }
}
