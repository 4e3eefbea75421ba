import Crypto

/// Keeps secure payloads until their addressee has fetched them, sealed, and remembers who tried.
///
/// A payload is read by its addressee alone; not even its sender gets it back. It can be read until it expires, is
/// revoked or has been read as often as its sender allowed, and then loses its ciphertext. How it ended, and who tried to
/// read it, is remembered for seven days after its expiration.
package actor SecurePayloadService {
    /// In bytes of JSON.
    package static let maximumSize = 65_536
    package static let defaultLifetime: Duration = .seconds(3600)
    package static let maximumLifetime: Duration = .seconds(30 * 86_400)
    /// Most payloads that one addressee can have. What was read gives way to what is new.
    package static let maximumLive = 100
    /// Most of them that are of the same sender: others get through, too. What users send to themselves is theirs to bound.
    package static let maximumOfSender = 25
    /// Most that are opened to find out which key sealed them: a start waits for it.
    private static let maximumTried = 100
    /// How long after the expiration a payload's end and its readers are remembered, unless said.
    package static let retention: Duration = .seconds(7 * 86_400)

    private let environment: HubEnvironment
    private let store: any SecurePayloadStore
    private let seal: SecurePayloadSeal
    private var retention: Duration

    /// Throws `secure.key` for a key that has not 256 bits.
    package init(
        environment: HubEnvironment, store: any SecurePayloadStore, key: SymmetricKey,
        retention: Duration = SecurePayloadService.retention
    ) throws(PushError) {
        self.environment = environment
        self.retention = retention
        self.store = store
        seal = try SecurePayloadSeal(key: key)
    }

    /// From now on.
    package func change(retention: Duration) { self.retention = retention }

    /// Checks everything, then keeps the payload. Throws `secure.lifetime`, `secure.maximum_reads`, `secure.payload`,
    /// `secure.too_large`, `secure.too_many`, and `tag.invalid` for an addressee who can be none.
    func keep(_ request: SecureRequest, from sender: String) async throws(PushError) -> Kept {
        let sender = try Tag.ofUser(sender)
        let addressee = try Tag.ofUser(request.username)
        let lifetime = try Self.checkedLifetime(request.lifetime)
        if let maximum = request.maximumReads { try Self.checkMaximum(maximum) }
        let text = try Self.checkedText(request.payload)
        try await sweep()
        let expiration = environment.clock.now + lifetime
        let limit = SecurePayloadLimit(all: Self.maximumLive, ofSender: sender == addressee ? Self.maximumLive : Self.maximumOfSender)
        while true {
            var payload = SealedPayload(
                id: newID(), sender: sender, addressee: addressee, expiration: expiration,
                maximumReads: request.maximumReads)
            payload.sealed = try seal.close(
                text, as: payload, nonce: environment.random.bytes(SecurePayloadSeal.nonceLength))
            payload.keyMark = seal.mark
            switch try await store.insert(payload, limit: limit, now: environment.clock.now) {
            case .inserted:
                noteKept(payload, request)
                return Kept(payload: payload)
            case .insertedInstead(let other):
                noteKept(payload, request)
                environment.note(.backend, "secure payload \(other.id) gave way to it")
                return Kept(payload: payload, displaced: other)
            case .idInUse: continue
            case .full:
                throw Self.tooMany(
                    Self.maximumLive, of: request.username, "that were never read",
                    hint: "\(request.username) can fetch or revoke some, which GET /api/notifications lists; or wait until they expire")
            case .fullOfSender:
                throw Self.tooMany(
                    Self.maximumOfSender, of: request.username, "of the same sender that were never read",
                    hint: "revoke some of yours, or wait until they are read or expire")
            }
        }
    }

    /// A new payload, and the one that gave way to it, as it was.
    struct Kept: Sendable {
        var payload: SealedPayload
        var displaced: SealedPayload?
    }

    private func noteKept(_ payload: SealedPayload, _ request: SecureRequest) {
        environment.note(.backend, "secure payload \(payload.id) kept for \(request.username) until \(payload.expiration)")
    }

    /// What a user can still read, the first that expires first; nothing of it is opened.
    func readable(by username: String) async throws(PushError) -> [SealedPayload] {
        let user = try Tag.ofUser(username)
        try await sweep()
        return try await store.readable(by: user)
    }

    /// How many could still be read, had they not been sealed with another key. Of those without a mark some are tried, and marked
    /// when they open.
    package func sealedOtherwise() async throws(PushError) -> Int {
        let foreign = try await tryUnmarked()
        return foreign + Self.sealedOtherwise(try await store.readableByKey(), than: seal.mark)
    }

    /// How many of those that were tried do not open.
    private func tryUnmarked() async throws(PushError) -> Int {
        var foreign = 0
        let mark = seal.mark
        for payload in try await store.unmarked(limit: Self.maximumTried) {
            guard (try? seal.open(payload)) != nil else {
                foreign += 1
                continue
            }
            _ = try await store.update(payload.id) { $0.keyMark = mark }
        }
        return foreign
    }

    /// - Parameters:
    ///   - counts: of payloads, by the marks of their keys.
    ///   - key: nil where there is none. Of payloads without a mark nobody knows whether it sealed them: they count only then.
    package static func sealedOtherwise(_ counts: [[UInt8]: Int], than key: SymmetricKey?) -> Int {
        sealedOtherwise(counts, than: key.map(SecurePayloadSeal.mark))
    }

    private static func sealedOtherwise(_ counts: [[UInt8]: Int], than mark: [UInt8]?) -> Int {
        counts.reduce(0) { $0 + ($1.key != mark && (mark == nil || !$1.key.isEmpty) ? $1.value : 0) }
    }

    /// Takes a payload back as if it had never been kept: its push could not be sent.
    func discard(_ kept: Kept) async throws(PushError) {
        try await store.remove(kept.payload.id)
        environment.note(.backend, "secure payload \(kept.payload.id) discarded")
        guard let displaced = kept.displaced else { return }
        _ = try await store.update(displaced.id) { if $0.ending == .expired { $0 = displaced } }
    }

    /// The payload, for its addressee, as often as its sender allowed. Every attempt is written down.
    func read(_ id: String, by username: String) async throws(PushError) -> JSON {
        let user = try Tag.ofUser(username)
        try await sweep()
        try await ask(id, user, username)
        let (seal, now) = (seal, environment.clock.now)
        let attempt = try await store.update(id) { payload throws(PushError) in
            let result = payload.answer(to: user, at: now)
            // Before it counts: a payload that does not open has not been read.
            let content: JSON? = result == .granted ? try seal.open(payload) : nil
            payload.record(SecureRead(time: now, username: username, result: result))
            return (result: result, content: content, payload: payload)
        }
        guard let attempt else { throw Self.notFound(id) }
        environment.note(.backend, "secure payload \(id) asked for by \(username): \(attempt.result.rawValue)")
        if let content = attempt.content { return content }
        throw Self.refusal(attempt.result, attempt.payload)
    }

    /// Throws what hooks throw that do not let the user have what is his; of what he would not get anyway they are not asked.
    private func ask(_ id: String, _ user: Tag, _ username: String) async throws(PushError) {
        guard environment.hooks.isWanted(.onSecureFetch), let payload = try await store.payload(id),
            payload.answer(to: user, at: environment.clock.now) == .granted
        else { return }
        do throws(PushError) {
            try await environment.hooks.onSecureFetch(SecureFetch(id: id, username: username))
        } catch {
            let read = SecureRead(time: environment.clock.now, username: username, result: .vetoed)
            _ = try await store.update(id) { $0.record(read) }
            environment.note(.backend, "secure payload \(id) asked for by \(username): vetoed")
            throw error
        }
    }

    /// One that has ended already stays as it ended. Throws `secure.forbidden` unless by the sender or the addressee.
    func revoke(_ id: String, by username: String) async throws(PushError) {
        let user = try Tag.ofUser(username)
        try await sweep()
        let isTheirs = try await store.update(id) { payload in
            let isTheirs = payload.concerns(user)
            if isTheirs { payload.end(.revoked) }
            return isTheirs
        }
        guard let isTheirs else { throw Self.notFound(id) }
        guard isTheirs else { throw Self.forbidden(id) }
        environment.note(.backend, "secure payload \(id) revoked by \(username)")
    }

    /// Throws `secure.forbidden` unless for the sender or the addressee.
    func reads(of id: String, for username: String) async throws(PushError) -> [SecureRead] {
        let user = try Tag.ofUser(username)
        try await sweep()
        guard let payload = try await store.payload(id) else { throw Self.notFound(id) }
        guard payload.concerns(user) else { throw Self.forbidden(id) }
        return payload.reads
    }

    /// Takes the ciphertext of everything that has expired. Every other call does so first; a host that is idle for long
    /// calls this from time to time.
    package func sweep() async throws(PushError) {
        let count = try await store.sweep(now: environment.clock.now, retention: retention)
        if count > 0 { environment.note(.backend, "\(count) secure payload\(count == 1 ? "" : "s") expired") }
    }

    /// The tutorials' client reads the id as a number of 32 bits. It is no secret, but tells nobody how many there are.
    private func newID() -> String { String(environment.random.next() % UInt64(Int32.max) + 1) }

    // MARK: - Checks

    /// Throws `secure.maximum_reads`.
    package static func checkMaximum(_ maximum: Int) throws(PushError) {
        guard maximum < 1 else { return }
        throw PushError(
            "secure.maximum_reads", "a payload that can be read \(maximum) times is of no use",
            hint: "allow at least one read, or give no number", status: 400)
    }

    /// Throws `secure.lifetime`.
    package static func checkedLifetime(_ lifetime: Duration?) throws(PushError) -> Duration {
        let lifetime = lifetime ?? defaultLifetime
        guard lifetime > .zero, lifetime <= maximumLifetime else {
            throw PushError(
                "secure.lifetime", "a lifetime of \(lifetime.short) is refused: more than nothing, at most 30 days",
                hint: "give a time up to 30 days, or none for an hour", status: 400)
        }
        return lifetime
    }

    private static func checkedText(_ payload: JSON) throws(PushError) -> [UInt8] {
        // What the reader refuses could never be fetched.
        guard !payload.isDeeper(than: JSON.maximumDepth) else {
            throw PushError(
                "secure.payload", "the payload has more than \(JSON.maximumDepth) levels", hint: "make it flatter",
                status: 400)
        }
        let text = payload.serialized()
        guard text.count <= maximumSize else {
            throw PushError(
                "secure.too_large", "the payload has \(text.count) bytes of JSON; the limit is \(maximumSize)",
                hint: "keep what is large elsewhere, and send where", status: 413,
                details: ["size": .integer(Int64(text.count)), "limit": .integer(Int64(maximumSize))])
        }
        return text
    }

    // MARK: - Refusals

    private static func tooMany(_ limit: Int, of username: String, _ which: String, hint: String) -> PushError {
        PushError(
            "secure.too_many", "\(username) has \(limit) secure payloads \(which)", hint: hint, status: 429,
            details: ["limit": .integer(Int64(limit))])
    }

    private static func notFound(_ id: String) -> PushError {
        PushError(
            "secure.not_found", "there is no secure payload \(id)",
            hint: "an id is forgotten some days after its payload has expired", status: 404)
    }

    private static func forbidden(_ id: String) -> PushError {
        PushError(
            "secure.forbidden", "secure payload \(id) is a matter of other users",
            hint: "log in as its sender or its addressee", status: 403)
    }

    private static func refusal(_ result: SecureRead.Result, _ payload: SealedPayload) -> PushError {
        let again = "ask for it to be sent again"
        switch result {
        case .forbidden, .granted, .vetoed:
            return PushError(
                "secure.forbidden", "secure payload \(payload.id) is for another user", hint: "log in as its addressee",
                status: 403)
        case .expired:
            return PushError(
                "secure.expired", "secure payload \(payload.id) expired at \(payload.expiration)", hint: again,
                status: 410)
        case .exhausted:
            let times = payload.grantedReads == 1 ? "once" : "\(payload.grantedReads) times"
            return PushError(
                "secure.exhausted",
                "secure payload \(payload.id) has been read \(times), as often as its sender allowed", hint: again,
                status: 410)
        case .revoked:
            return PushError("secure.revoked", "secure payload \(payload.id) was revoked", hint: again, status: 410)
        }
    }
}

extension SealedPayload {
    fileprivate func concerns(_ user: Tag) -> Bool { user == sender || user == addressee }
}

extension JSON {
    /// Looks no deeper than that.
    fileprivate func isDeeper(than levels: Int) -> Bool {
        switch self {
        case .array(let values): levels == 0 || values.contains { $0.isDeeper(than: levels - 1) }
        case .object(let object): levels == 0 || object.members.contains { $0.value.isDeeper(than: levels - 1) }
        case .null, .bool, .integer, .number, .numeral, .string: false
        }
    }
}
