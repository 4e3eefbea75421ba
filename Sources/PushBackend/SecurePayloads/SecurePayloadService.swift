package import Crypto
package import PushModel

/// Stores secure payloads, encrypted, until their recipients have fetched them, and records who tried to read them.
///
/// Only its recipient can read a payload, not even its sender. It can be read until it expires, is revoked, or has been read as often as
/// its sender allowed. Then its ciphertext is deleted. Its end and its readers stay recorded for seven days after its expiration.
package actor SecurePayloadService {
    /// Maximum number of payloads of a recipient. A payload that has been read makes room for a new one.
    package static let maximumPayloads = 100
    /// Maximum number of them from one sender, so that others get through. Does not apply to payloads that users send to themselves.
    package static let maximumPerSender = 25
    /// Maximum number of payloads that are decrypted to find their key. The server's start waits for it.
    private static let maximumTried = 100
    /// Default time for which the end and the readers of a payload are recorded after its expiration.
    package static let retention: Duration = .seconds(7 * 86_400)

    private let environment: HubEnvironment
    private let store: any SecurePayloadStore
    private let seal: SecurePayloadSeal
    private var retention: Duration

    /// Throws `secure.key` if the key does not have 256 bits.
    package init(
        environment: HubEnvironment, store: any SecurePayloadStore, key: SymmetricKey,
        retention: Duration = SecurePayloadService.retention
    ) throws(PushError) {
        self.environment = environment
        self.retention = retention
        self.store = store
        seal = try SecurePayloadSeal(key: key)
    }

    /// Changes the retention from now on.
    package func change(retention: Duration) { self.retention = retention }

    /// Validates and stores a payload. Throws `secure.lifetime`, `secure.maximum_reads`, `secure.payload`, `secure.too_large`,
    /// `secure.too_many`, and `tag.invalid` for an invalid recipient.
    func save(_ request: SecureRequest, from sender: String) async throws(PushError) -> StoredPayload {
        let sender = try Tag.ofUser(sender)
        let recipient = try Tag.ofUser(request.username)
        let lifetime = try SecureRequest.checkedLifetime(request.lifetime)
        if let maximum = request.maximumReads { try SecureRequest.checkMaximumReads(maximum) }
        let text = try Self.checkedText(request.payload)
        try await sweep()
        let expiration = environment.clock.now + lifetime
        let limit = SecurePayloadLimit(
            all: Self.maximumPayloads, ofSender: sender == recipient ? Self.maximumPayloads : Self.maximumPerSender)
        while true {
            var payload = SealedPayload(
                id: newID(), sender: sender, recipient: recipient, expiration: expiration,
                maximumReads: request.maximumReads)
            payload.sealed = try seal.close(
                text, as: payload, nonce: environment.random.bytes(SecurePayloadSeal.nonceLength))
            payload.keyMark = seal.mark
            switch try await store.insert(payload, limit: limit, now: environment.clock.now) {
            case .inserted:
                noteStored(payload, request)
                return StoredPayload(payload: payload)
            case .displacedOther(let other):
                noteStored(payload, request)
                environment.note(.backend, "secure payload \(other.id) was replaced by it")
                return StoredPayload(payload: payload, displaced: other)
            case .idInUse: continue
            case .full:
                throw Self.tooMany(
                    Self.maximumPayloads, of: request.username, "that were never read",
                    hint: "\(request.username) can fetch or revoke some, which GET /api/notifications lists; or wait until they expire")
            case .senderIsFull:
                throw Self.tooMany(
                    Self.maximumPerSender, of: request.username, "of the same sender that were never read",
                    hint: "revoke some of yours, or wait until they are read or expire")
            }
        }
    }

    /// A new payload, and the previous state of the payload that it displaced.
    struct StoredPayload: Sendable {
        var payload: SealedPayload
        var displaced: SealedPayload?
    }

    private func noteStored(_ payload: SealedPayload, _ request: SecureRequest) {
        environment.note(.backend, "secure payload \(payload.id) stored for \(request.username) until \(payload.expiration)")
    }

    /// Payloads that a user can still read, earliest expiration first, without decrypting them.
    func readable(by username: String) async throws(PushError) -> [SealedPayload] {
        let user = try Tag.ofUser(username)
        try await sweep()
        return try await store.readable(by: user)
    }

    /// Number of readable payloads that were encrypted with another key. Decrypts some payloads without a mark, and marks those that this
    /// key opens.
    package func sealedWithOtherKey() async throws(PushError) -> Int {
        let foreign = try await tryUnmarked()
        return foreign + Self.sealedWithOtherKey(try await store.readableByKey(), than: seal.mark)
    }

    /// Number of tried payloads that this key does not open.
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
    ///   - counts: payloads by the marks of their keys.
    ///   - key: nil if there is none. Payloads without a mark may be of any key, so they count only then.
    package static func sealedWithOtherKey(_ counts: [[UInt8]: Int], than key: SymmetricKey?) -> Int {
        sealedWithOtherKey(counts, than: key.map(SecurePayloadSeal.mark))
    }

    private static func sealedWithOtherKey(_ counts: [[UInt8]: Int], than mark: [UInt8]?) -> Int {
        counts.reduce(0) { $0 + ($1.key != mark && (mark == nil || !$1.key.isEmpty) ? $1.value : 0) }
    }

    /// Removes a payload whose push could not be sent, and restores the one that it displaced.
    func discard(_ stored: StoredPayload) async throws(PushError) {
        try await store.remove(stored.payload.id)
        environment.note(.backend, "secure payload \(stored.payload.id) discarded")
        guard let displaced = stored.displaced else { return }
        _ = try await store.update(displaced.id) { if $0.ending == .expired { $0 = displaced } }
    }

    /// Returns a payload to its recipient, as often as its sender allowed. Records every attempt.
    func read(_ id: String, by username: String) async throws(PushError) -> JSON {
        let user = try Tag.ofUser(username)
        try await sweep()
        try await ask(id, user, username)
        let (seal, now) = (seal, environment.clock.now)
        let attempt = try await store.update(id) { payload throws(PushError) in
            let result = payload.answer(to: user, at: now)
            // Decrypted before it is counted: a failure is not a read.
            let content: JSON? = result == .granted ? try seal.open(payload) : nil
            payload.record(SecureRead(time: now, username: username, result: result))
            return (result: result, content: content, payload: payload)
        }
        guard let attempt else { throw Self.notFound(id) }
        environment.note(.backend, "secure payload \(id) requested by \(username): \(attempt.result.rawValue)")
        if let content = attempt.content { return content }
        throw Self.refusal(attempt.result, attempt.payload)
    }

    /// Calls the `onSecureFetch` hooks and throws their rejection. They are called only if the read would be granted.
    private func ask(_ id: String, _ user: Tag, _ username: String) async throws(PushError) {
        guard environment.hooks.hasHook(.onSecureFetch), let payload = try await store.payload(id),
            payload.answer(to: user, at: environment.clock.now) == .granted
        else { return }
        do throws(PushError) {
            try await environment.hooks.onSecureFetch(SecureFetch(id: id, username: username))
        } catch {
            let read = SecureRead(time: environment.clock.now, username: username, result: .vetoed)
            _ = try await store.update(id) { $0.record(read) }
            environment.note(.backend, "secure payload \(id) requested by \(username): vetoed")
            throw error
        }
    }

    /// Revokes a payload. A payload that has ended is left unchanged. Throws `secure.forbidden` for users other than its sender and
    /// recipient.
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

    /// The recorded reads of a payload. Throws `secure.forbidden` for users other than its sender and recipient.
    func reads(of id: String, for username: String) async throws(PushError) -> [SecureRead] {
        let user = try Tag.ofUser(username)
        try await sweep()
        guard let payload = try await store.payload(id) else { throw Self.notFound(id) }
        guard payload.concerns(user) else { throw Self.forbidden(id) }
        return payload.reads
    }

    /// Deletes the ciphertext of expired payloads. Every other call does so first; a host that is idle calls this periodically.
    package func sweep() async throws(PushError) {
        let count = try await store.sweep(now: environment.clock.now, retention: retention)
        if count > 0 { environment.note(.backend, "\(count) secure payload\(count == 1 ? "" : "s") expired") }
    }

    /// The tutorials' client reads the id as a 32-bit integer. It is random, so that it does not reveal the number of payloads.
    private func newID() -> String { String(environment.random.next() % UInt64(Int32.max) + 1) }

    // MARK: - Checks

    private static func checkedText(_ payload: JSON) throws(PushError) -> [UInt8] {
        // A deeper payload could be stored, but not parsed again.
        guard !payload.isDeeper(than: JSON.maximumDepth) else {
            throw PushError(
                "secure.payload", "the payload has more than \(JSON.maximumDepth) levels", hint: "reduce the nesting",
                status: 400)
        }
        let text = payload.serialized()
        guard text.count <= SecureRequest.maximumSize else {
            throw PushError(
                "secure.too_large", "the payload has \(text.count) bytes of JSON; the limit is \(SecureRequest.maximumSize)",
                hint: "store large content elsewhere, and send its address", status: 413,
                details: ["size": .integer(Int64(text.count)), "limit": .integer(Int64(SecureRequest.maximumSize))])
        }
        return text
    }

    // MARK: - Errors

    private static func tooMany(_ limit: Int, of username: String, _ which: String, hint: String) -> PushError {
        PushError(
            "secure.too_many", "\(username) has \(limit) secure payloads \(which)", hint: hint, status: 429,
            details: ["limit": .integer(Int64(limit))])
    }

    private static func notFound(_ id: String) -> PushError {
        PushError(
            "secure.not_found", "unknown secure payload \"\(id)\"",
            hint: "check the id; records are deleted some days after a payload has expired", status: 404)
    }

    private static func forbidden(_ id: String) -> PushError {
        PushError(
            "secure.forbidden", "secure payload \(id) belongs to other users",
            hint: "log in as its sender or its recipient", status: 403)
    }

    private static func refusal(_ result: SecureRead.Result, _ payload: SealedPayload) -> PushError {
        let again = "ask the sender to send it again"
        switch result {
        case .forbidden, .granted, .vetoed:
            return PushError(
                "secure.forbidden", "secure payload \(payload.id) is for another user", hint: "log in as its recipient",
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
    fileprivate func concerns(_ user: Tag) -> Bool { user == sender || user == recipient }
}

extension JSON {
    /// Stops at that depth.
    fileprivate func isDeeper(than levels: Int) -> Bool {
        switch self {
        case .array(let values): levels == 0 || values.contains { $0.isDeeper(than: levels - 1) }
        case .object(let object): levels == 0 || object.members.contains { $0.value.isDeeper(than: levels - 1) }
        case .null, .bool, .integer, .number, .numeral, .string: false
        }
    }
}
