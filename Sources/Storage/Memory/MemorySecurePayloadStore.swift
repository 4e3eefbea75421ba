package import PushModel

/// Secure payloads in memory.
package actor MemorySecurePayloadStore: SecurePayloadStore {
    private var payloads: [String: SealedPayload] = [:]
    /// Ids of readable payloads, by recipient.
    private var live: [Tag: Set<String>] = [:]
    /// When each payload expires and, after that, when it is deleted. Entries of removed payloads remain until they are due.
    private var expirations = TimeQueue<String>()

    package init() {}

    package func insert(_ payload: SealedPayload, limit: SecurePayloadLimit, now: Timestamp) -> SecurePayloadInsertion {
        guard payloads[payload.id] == nil else { return .idInUse }
        let readable = readable(by: payload.recipient).map {
            SecurePayloadLimit.Readable(id: $0.id, isFromSender: $0.sender == payload.sender, wasRead: $0.grantedReads > 0)
        }
        var insertion = SecurePayloadInsertion.inserted
        switch limit.decision(among: readable) {
        case .free: break
        case .none(let refusal): return refusal
        case .displacing(let id):
            guard var other = payloads[id] else { break }
            insertion = .displacedOther(of: other)
            other.expireEarly(at: now)
            set(id, to: other)
            expirations.insert(id, at: other.expiration)
        }
        set(payload.id, to: payload)
        expirations.insert(payload.id, at: payload.expiration)
        if expirations.count > 2 * payloads.count + 64 { rebuildExpirations() }
        return insertion
    }

    package func payload(_ id: String) -> SealedPayload? { payloads[id] }

    package func readable(by recipient: Tag) -> [SealedPayload] {
        (live[recipient] ?? []).compactMap { payloads[$0] }
            .sorted { ($0.expiration, $0.id) < ($1.expiration, $1.id) }
    }

    package func readableByKey() -> [[UInt8]: Int] {
        payloads.values.reduce(into: [:]) { if $1.isLive { $0[$1.keyMark, default: 0] += 1 } }
    }

    package func unmarked(limit: Int) -> [SealedPayload] {
        Array(payloads.values.filter { $0.isLive && $0.keyMark.isEmpty }.sorted { $0.id < $1.id }.prefix(limit))
    }

    package func update<Result: Sendable>(
        _ id: String, _ change: @escaping @Sendable (inout SealedPayload) throws(PushError) -> Result
    ) throws(PushError) -> Result? {
        guard var payload = payloads[id] else { return nil }
        let result = try change(&payload)
        set(id, to: payload)
        return result
    }

    package func remove(_ id: String) { set(id, to: nil) }

    /// Removes all payloads from and to a user.
    func removeAll(of user: Tag) {
        for payload in payloads.values where payload.sender == user || payload.recipient == user { set(payload.id, to: nil) }
    }

    package func sweep(now: Timestamp, retention: Duration) -> Int {
        var ended = 0
        while let id = expirations.popFirst(dueBy: now) {
            guard var payload = payloads[id], payload.expiration <= now else { continue }
            if payload.isLive {
                payload.end(.expired)
                set(id, to: payload)
                ended += 1
            }
            let forgotten = payload.expiration + retention
            if forgotten <= now { set(id, to: nil) } else { expirations.insert(id, at: forgotten) }
        }
        return ended
    }

    private func set(_ id: String, to payload: SealedPayload?) {
        if let old = payloads[id], old.isLive {
            live[old.recipient]?.remove(id)
            if live[old.recipient]?.isEmpty == true { live[old.recipient] = nil }
        }
        payloads[id] = payload
        if let payload, payload.isLive { live[payload.recipient, default: []].insert(id) }
    }

    private func rebuildExpirations() {
        expirations = TimeQueue()
        for payload in payloads.values.sorted(by: { $0.id < $1.id }) { expirations.insert(payload.id, at: payload.expiration) }
    }
}
