import PushCore

/// The keys of an issuer: fetched when they are first needed, kept for as long as the issuer says, and fetched again for a token
/// whose key is not among them.
package actor IssuerKeys {
    /// A document of keys (RFC 7517, section 5).
    package struct Document: Sendable {
        package var bytes: [UInt8]
        /// For how long it may be kept; nil where that is not said.
        package var maximumAge: Duration?

        package init(bytes: [UInt8], maximumAge: Duration? = nil) { (self.bytes, self.maximumAge) = (bytes, maximumAge) }

        fileprivate var keys: [IssuerKey] {
            get throws(PushError) {
                guard let items = (try? JSON(parsing: bytes))?["keys"]?.array else {
                    throw PushError("auth.issuer", "what is there is no document of keys (JWKS)")
                }
                return items.compactMap(IssuerKey.init)
            }
        }

        /// How many there are that tokens can be signed with. Throws `auth.issuer` for what is no document, and for none.
        package func count() throws(PushError) -> Int {
            let count = try keys.count
            guard count > 0 else { throw PushError("auth.issuer", "there is no key (JWKS) that tokens can be signed with") }
            return count
        }
    }

    package typealias Fetch = @Sendable () async throws(PushError) -> Document

    static let ages: ClosedRange<Duration> = .seconds(60)...(.seconds(86_400))
    static let usualAge: Duration = .seconds(600)
    /// Between two fetches for keys that are not known.
    static let pause: Duration = .seconds(60)
    /// For new keys, while the ones from before hold.
    static let patience: Duration = .seconds(2)
    /// After a fetch that failed.
    static let pauseAfterFailure: Duration = .seconds(10)

    private let clock: any HubClock
    private let fetch: Fetch
    private var keys: [IssuerKey] = []
    private var fetchedAt: Timestamp?
    private var staleAt: Timestamp?
    private var failedAt: Timestamp?
    private var fetching: Task<PushError?, Never>?

    package init(clock: any HubClock, fetch: @escaping Fetch) { (self.clock, self.fetch) = (clock, fetch) }

    /// Those that a token may be signed with.
    /// - Parameter id: that the token names; nil where it names none.
    /// Throws `auth.issuer` where there are no keys and none can be fetched.
    func keys(for algorithm: IssuerKey.Algorithm, id: String?) async throws(PushError) -> [IssuerKey] {
        if staleAt.map({ $0 <= clock.now }) ?? true { try await refresh() }
        let found = keys.filter { $0.fits(algorithm) && (id == nil || $0.id == id) }
        guard found.isEmpty, id != nil, let fetchedAt, fetchedAt + Self.pause <= clock.now else { return found }
        try await refresh(isWanted: true)
        return keys.filter { $0.fits(algorithm) && $0.id == id }
    }

    /// Where it fails, the keys from before hold for at most a day.
    /// - Parameter isWanted: whether the new ones are waited for in any case.
    private func refresh(isWanted: Bool = false) async throws(PushError) {
        let holds = fetchedAt.map { clock.now < $0 + Self.ages.upperBound } ?? false
        if let failedAt, clock.now < failedAt + Self.pauseAfterFailure {
            if holds { return }
            throw Self.unreachable("they could not be fetched a moment ago")
        }
        let isFirst = fetching == nil
        let task = fetching ?? Task { await take() }
        fetching = task
        // An issuer that does not answer holds up whoever asks first, for a moment, where keys are known.
        if holds, !isWanted { return isFirst ? await wait(for: task) : () }
        if let failure = await task.value, !holds { throw failure }
    }

    /// No longer than is fine for somebody who can do without.
    private func wait(for task: Task<PushError?, Never>) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let deadline = clock.now + Self.patience
        let alarm = Task { [clock] in
            try? await clock.sleep(until: deadline)
            end.yield()
        }
        let watch = Task {
            _ = await task.value
            end.yield()
        }
        for await _ in ends { break }
        alarm.cancel()
        watch.cancel()
    }

    private func take() async -> PushError? {
        defer { fetching = nil }
        do throws(PushError) {
            let document = try await fetch()
            keys = try document.keys
            let age = document.maximumAge ?? Self.usualAge
            (fetchedAt, failedAt) = (clock.now, nil)
            staleAt = clock.now + min(max(age, Self.ages.lowerBound), Self.ages.upperBound)
            return nil
        } catch {
            failedAt = clock.now
            return Self.unreachable(error.message)
        }
    }

    /// Why is for the log alone: anybody may ask.
    private static func unreachable(_ why: String) -> PushError {
        PushError(
            "auth.issuer", "the keys of the issuer of tokens are not to be had", hint: "try again in a while", status: 503,
            isRetryable: true, details: ["retryAfter": 10, "cause": .string(why)])
    }
}
