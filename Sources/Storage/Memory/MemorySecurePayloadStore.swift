import PushCore

/// Secure payloads that live as long as the process.
package actor MemorySecurePayloadStore: SecurePayloadStore {
    private var payloads: [String: SealedPayload] = [:]
    /// How many can still be read, by addressee.
    private var live: [Tag: Int] = [:]
    /// How many of them were never read.
    private var unreadOfSenders: [Pair: Int] = [:]
    /// When each payload expires, and after that when it is forgotten. A payload that was removed leaves its moment behind.
    private var moments = TimeQueue<String>()

    private struct Pair: Hashable {
        let sender: Tag
        let addressee: Tag

        init(_ payload: SealedPayload) { (sender, addressee) = (payload.sender, payload.addressee) }
    }

    package init() {}

    package func insert(_ payload: SealedPayload, limit: Int, perSender: Int) -> SecurePayloadInsertion {
        guard payloads[payload.id] == nil else { return .idInUse }
        guard live[payload.addressee, default: 0] < limit else { return .full }
        guard unreadOfSenders[Pair(payload), default: 0] < perSender else { return .fullOfSender }
        set(payload.id, to: payload)
        moments.insert(payload.id, at: payload.expiration)
        if moments.count > 2 * payloads.count + 64 { rebuildMoments() }
        return .inserted
    }

    package func payload(_ id: String) -> SealedPayload? { payloads[id] }

    package func readable(by addressee: Tag) -> [SealedPayload] {
        payloads.values.filter { $0.isLive && $0.addressee == addressee }
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
        if let old = payloads[id], old.isLive { count(old, -1) }
        payloads[id] = payload
        if let payload, payload.isLive { count(payload, 1) }
    }

    private func count(_ payload: SealedPayload, _ change: Int) {
        let all = live[payload.addressee, default: 0] + change
        live[payload.addressee] = all > 0 ? all : nil
        guard payload.grantedReads == 0 else { return }
        let own = unreadOfSenders[Pair(payload), default: 0] + change
        unreadOfSenders[Pair(payload)] = own > 0 ? own : nil
    }

    private func rebuildMoments() {
        moments = TimeQueue()
        for payload in payloads.values.sorted(by: { $0.id < $1.id }) { moments.insert(payload.id, at: payload.expiration) }
    }
}
