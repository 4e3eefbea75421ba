import PushCore

/// Secure payloads that live as long as the process.
package actor MemorySecurePayloadStore: SecurePayloadStore {
    private var payloads: [String: SealedPayload] = [:]
    /// How many can still be read, by addressee.
    private var live: [Tag: Int] = [:]
    /// When each payload expires, and after that when it is forgotten. A payload that was removed leaves its moment behind.
    private var moments = TimeQueue<String>()

    package init() {}

    package func insert(_ payload: SealedPayload, limit: Int) -> SecurePayloadInsertion {
        guard payloads[payload.id] == nil else { return .idInUse }
        guard live[payload.addressee, default: 0] < limit else { return .full }
        set(payload.id, to: payload)
        moments.insert(payload.id, at: payload.expiration)
        if moments.count > 2 * payloads.count + 64 { rebuildMoments() }
        return .inserted
    }

    package func payload(_ id: String) -> SealedPayload? { payloads[id] }

    package func update<Result: Sendable>(
        _ id: String, _ change: @escaping @Sendable (inout SealedPayload) throws(PushError) -> Result
    ) throws(PushError) -> Result? {
        guard var payload = payloads[id] else { return nil }
        let result = try change(&payload)
        set(id, to: payload)
        return result
    }

    package func remove(_ id: String) { set(id, to: nil) }

    package func sweep(now: Timestamp, retention: Duration) -> Int {
        var ended = 0
        while let id = moments.popFirst(dueBy: now) {
            guard var payload = payloads[id], payload.expiration <= now else { continue }
            if payload.isLive {
                payload.end(.expired)
                set(id, to: payload)
                ended += 1
            }
            let forgotten = payload.expiration + retention
            if forgotten <= now { set(id, to: nil) } else { moments.insert(id, at: forgotten) }
        }
        return ended
    }

    private func set(_ id: String, to payload: SealedPayload?) {
        if let old = payloads[id], old.isLive {
            let count = live[old.addressee, default: 0] - 1
            live[old.addressee] = count > 0 ? count : nil
        }
        payloads[id] = payload
        if let payload, payload.isLive { live[payload.addressee, default: 0] += 1 }
    }

    private func rebuildMoments() {
        moments = TimeQueue()
        for payload in payloads.values.sorted(by: { $0.id < $1.id }) { moments.insert(payload.id, at: payload.expiration) }
    }
}
