package import PushModel

/// The signing keys of an issuer. They are fetched on first use, cached for as long as the issuer allows, and fetched again for a token
/// with an unknown key.
package actor IssuerKeys {
    /// A key set document (RFC 7517, section 5).
    package struct Document: Sendable {
        package var bytes: [UInt8]
        /// Maximum age in a cache; nil if not specified.
        package var maximumAge: Duration?

        package init(bytes: [UInt8], maximumAge: Duration? = nil) { (self.bytes, self.maximumAge) = (bytes, maximumAge) }

        fileprivate var keys: [IssuerKey] {
            get throws(PushError) {
                guard let items = (try? JSON(parsing: bytes))?["keys"]?.array else {
                    throw PushError("auth.issuer", "the response is not a key set (JWKS)")
                }
                return items.compactMap(IssuerKey.init)
            }
        }

        /// Number of usable signing keys. Throws `auth.issuer` for an invalid document, and if there is no key.
        package func count() throws(PushError) -> Int {
            let count = try keys.count
            guard count > 0 else { throw PushError("auth.issuer", "the key set (JWKS) has no key that can sign tokens") }
            return count
        }
    }

    package typealias Fetch = @Sendable () async throws(PushError) -> Document

    static let ages: ClosedRange<Duration> = .seconds(60)...(.seconds(86_400))
    static let usualAge: Duration = .seconds(600)
    /// Minimum time between two fetches for unknown keys.
    static let pause: Duration = .seconds(60)
    /// Maximum wait for new keys while old ones are still valid.
    static let timeout: Duration = .seconds(2)
    /// Minimum time before the next attempt after a failed fetch.
    static let pauseAfterFailure: Duration = .seconds(10)

    private let clock: any HubClock
    private let fetch: Fetch
    private var keys: [IssuerKey] = []
    private var fetchedAt: Timestamp?
    private var staleAt: Timestamp?
    private var failedAt: Timestamp?
    private var fetching: Task<PushError?, Never>?

    package init(clock: any HubClock, fetch: @escaping Fetch) { (self.clock, self.fetch) = (clock, fetch) }

    /// The keys that may have signed a token.
    /// - Parameter id: The key id in the token; nil if it has none.
    /// Throws `auth.issuer` if there are no keys and none can be fetched.
    func keys(for algorithm: IssuerKey.Algorithm, id: String?) async throws(PushError) -> [IssuerKey] {
        if staleAt.map({ $0 <= clock.now }) ?? true { try await refresh() }
        let found = keys.filter { $0.fits(algorithm) && (id == nil || $0.id == id) }
        guard found.isEmpty, id != nil, let fetchedAt, fetchedAt + Self.pause <= clock.now else { return found }
        try await refresh(isWanted: true)
        return keys.filter { $0.fits(algorithm) && $0.id == id }
    }

    /// Fetches the keys. If that fails, the previous ones stay valid for at most a day.
    /// - Parameter isWanted: Whether to wait for the new keys even if the previous ones are valid.
    private func refresh(isWanted: Bool = false) async throws(PushError) {
        let holds = fetchedAt.map { clock.now < $0 + Self.ages.upperBound } ?? false
        if let failedAt, clock.now < failedAt + Self.pauseAfterFailure {
            if holds { return }
            throw Self.unreachable("an attempt to fetch them has just failed")
        }
        let isFirst = fetching == nil
        let task = fetching ?? Task { await take() }
        fetching = task
        // While old keys are valid, a slow issuer delays only the first request, and only briefly.
        if holds, !isWanted { return isFirst ? await wait(for: task) : () }
        if let failure = await task.value, !holds { throw failure }
    }

    /// Waits for the fetch, but at most `timeout`.
    private func wait(for task: Task<PushError?, Never>) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let deadline = clock.now + Self.timeout
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

    /// The cause goes only to the log, because anyone may send such a request.
    private static func unreachable(_ why: String) -> PushError {
        PushError(
            "auth.issuer", "the keys of the token issuer are not available", hint: "try again later", status: 503,
            isRetryable: true, details: ["retryAfter": 10, "cause": .string(why)])
    }
}
