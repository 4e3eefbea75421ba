/// How often a password may be tried wrongly, from one address, at one account, and at one account from one address. So that many
/// at once do not slip through, no more are under way than may fail; the others wait until it is known how those end. Part of an
/// actor's state.
struct LoginAttempts: Sendable {
    struct Attempt: Sendable {
        let account: String
        let address: String

        /// - Parameter user: nil for a name that no account can have.
        init(user: Tag?, address: String) {
            account = user?.text.lowercased() ?? ""
            self.address = address
        }

        fileprivate var pair: String { "\(address) \(account)" }

        /// Whether how the one ends may matter to the other.
        fileprivate func concerns(_ other: Attempt) -> Bool { account == other.account || address == other.address }
    }

    enum Answer: Sendable, Equatable {
        /// It may be tried, and is under way.
        case begun
        /// It hangs on attempts that are under way: then wait.
        case undecided
        /// The same, and too many wait already.
        case lineIsFull
        /// Too many have failed; in so many seconds it may be tried.
        case refused(Int)
    }

    /// Failures that are left to one who tries; they come back evenly.
    private struct Allowances {
        let perMinute: Double
        private var left: [String: (count: Double, time: Timestamp)] = [:]
        private var underWay: [String: Int] = [:]
        private static let maximumKeys = 50_000

        init(perMinute: Double) { self.perMinute = perMinute }

        /// Nil where there is one, else the seconds until there is.
        func wait(_ key: String, now: Timestamp) -> Int? {
            let count = count(key, now: now)
            return count >= 1 ? nil : max(1, Int(((1 - count) * 60 / perMinute).rounded(.up)))
        }

        /// Whether one more may fail, should all that are under way fail.
        func hasRoom(_ key: String, now: Timestamp) -> Bool { count(key, now: now) - Double(underWay[key] ?? 0) >= 1 }

        mutating func begin(_ key: String) { underWay[key, default: 0] += 1 }

        mutating func end(_ key: String, isFailure: Bool, now: Timestamp) {
            let rest = (underWay[key] ?? 0) - 1
            underWay[key] = rest > 0 ? rest : nil
            if isFailure { fail(key, now: now) }
        }

        /// - Parameter floor: what is left then at least.
        mutating func fail(_ key: String, now: Timestamp, atLeast floor: Double = -.infinity) {
            if left.count >= Self.maximumKeys { makeRoom(now: now) }
            left[key] = (count: max(floor, count(key, now: now) - 1), time: now)
        }

        private func count(_ key: String, now: Timestamp) -> Double {
            guard let kept = left[key] else { return perMinute }
            return min(perMinute, kept.count + Double(max(0, (now - kept.time).milliseconds)) * perMinute / 60_000)
        }

        /// Those who have the fewest left are remembered: else whoever tries many names would have all forgotten.
        private mutating func makeRoom(now: Timestamp) {
            left = left.filter { count($0.key, now: now) < perMinute }
            guard left.count >= Self.maximumKeys else { return }
            let scarcest = left.sorted { count($0.key, now: now) < count($1.key, now: now) }.prefix(Self.maximumKeys / 2)
            left = Dictionary(uniqueKeysWithValues: Array(scarcest))
        }
    }

    static let perPair = 10
    static let perAddress = 100
    static let perAccount = 100
    /// Most that wait at one account or from one address.
    static let longestLine = HashingPlaces.longestLine

    private var pairs = Allowances(perMinute: Double(perPair))
    private var addresses = Allowances(perMinute: Double(perAddress))
    private var accounts = Allowances(perMinute: Double(perAccount))

    /// Who waits is told nil when it may be tried and is under way, else the seconds until it may.
    typealias Waiter = CheckedContinuation<Int?, Never>

    private var line: [(attempt: Attempt, waiter: Waiter)] = []

    /// In how many seconds even what was proved is looked at again; nil where it is now. What failed at other accounts, or from other
    /// addresses, does not count.
    func refusal(of attempt: Attempt, now: Timestamp) -> Int? { pairs.wait(attempt.pair, now: now) }

    /// What came for an account was neither proved before nor tried: it may have been a guess at what was proved, which would have been
    /// answered otherwise.
    mutating func noteGuess(_ attempt: Attempt, now: Timestamp) {
        pairs.fail(attempt.pair, now: now, atLeast: -Double(Self.perPair))
    }

    mutating func begin(_ attempt: Attempt, now: Timestamp) -> Answer {
        let answer = answer(to: attempt, now: now)
        switch answer {
        case .begun: begin(attempt)
        case .undecided where isLineFull(for: attempt): return .lineIsFull
        case .undecided, .lineIsFull, .refused: break
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
            case .begun:
                begin(waiting)
                waiter.resume(returning: nil)
            case .refused(let seconds): waiter.resume(returning: seconds)
            case .undecided, .lineIsFull: rest.append((attempt: waiting, waiter: waiter))
            }
        }
        line = rest
    }

    private func answer(to attempt: Attempt, now: Timestamp) -> Answer {
        let waits = [
            pairs.wait(attempt.pair, now: now), addresses.wait(attempt.address, now: now), accounts.wait(attempt.account, now: now),
        ]
        if let longest = waits.compactMap({ $0 }).max() { return .refused(longest) }
        let hasRoom =
            pairs.hasRoom(attempt.pair, now: now) && addresses.hasRoom(attempt.address, now: now)
            && accounts.hasRoom(attempt.account, now: now)
        return hasRoom ? .begun : .undecided
    }

    private mutating func begin(_ attempt: Attempt) {
        pairs.begin(attempt.pair)
        addresses.begin(attempt.address)
        accounts.begin(attempt.account)
    }

    private func isLineFull(for attempt: Attempt) -> Bool {
        line.count { $0.attempt.account == attempt.account } >= Self.longestLine
            || line.count { $0.attempt.address == attempt.address } >= Self.longestLine
    }
}
