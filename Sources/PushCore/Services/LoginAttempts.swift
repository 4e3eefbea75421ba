/// How often a password may be tried, from one address, at one account, and at one account from one address. An attempt counts
/// before it is known how it ends, so that many at once do not slip through; one that was right is given back. Part of an actor's
/// state.
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
    }

    /// Attempts that are left to one who tries; they come back evenly.
    private struct Allowances {
        let perMinute: Double
        private var left: [String: (count: Double, time: Timestamp)] = [:]
        private static let maximumKeys = 50_000

        init(perMinute: Double) { self.perMinute = perMinute }

        /// Nil where there is one, else the seconds until there is.
        func wait(_ key: String, now: Timestamp) -> Int? {
            let count = count(key, now: now)
            return count >= 1 ? nil : max(1, Int(((1 - count) * 60 / perMinute).rounded(.up)))
        }

        mutating func take(_ key: String, now: Timestamp) {
            if left.count >= Self.maximumKeys { makeRoom(now: now) }
            left[key] = (count: count(key, now: now) - 1, time: now)
        }

        mutating func giveBack(_ key: String) {
            guard let kept = left[key] else { return }
            left[key] = (count: min(perMinute, kept.count + 1), time: kept.time)
        }

        private func count(_ key: String, now: Timestamp) -> Double {
            guard let kept = left[key] else { return perMinute }
            return min(perMinute, kept.count + Double(max(0, (now - kept.time).milliseconds)) * perMinute / 60_000)
        }

        private mutating func makeRoom(now: Timestamp) {
            left = left.filter { count($0.key, now: now) < perMinute }
            if left.count >= Self.maximumKeys { left = [:] }
        }
    }

    static let perPair = 10
    static let perAddress = 100
    static let perAccount = 100

    private var pairs = Allowances(perMinute: Double(perPair))
    private var addresses = Allowances(perMinute: Double(perAddress))
    private var accounts = Allowances(perMinute: Double(perAccount))

    /// Nil where the password may be tried, else the seconds until it may.
    mutating func take(_ attempt: Attempt, now: Timestamp) -> Int? {
        let waits = [
            pairs.wait(attempt.pair, now: now), addresses.wait(attempt.address, now: now), accounts.wait(attempt.account, now: now),
        ]
        if let longest = waits.compactMap({ $0 }).max() { return longest }
        pairs.take(attempt.pair, now: now)
        addresses.take(attempt.address, now: now)
        accounts.take(attempt.account, now: now)
        return nil
    }

    /// It was no failure.
    mutating func giveBack(_ attempt: Attempt) {
        pairs.giveBack(attempt.pair)
        addresses.giveBack(attempt.address)
        accounts.giveBack(attempt.account)
    }
}
