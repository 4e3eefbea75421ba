import PushCore

extension NotificationOutcome {
    /// One notification of several, of which each went to another platform.
    init(merging parts: [NotificationOutcome], id: String) {
        let first = parts.map(\.enqueuedAt).filter { $0 > Timestamp(milliseconds: 0) }.min() ?? Timestamp(milliseconds: 0)
        self.init(
            id: id, state: Self.state(of: parts.map(\.state)), tags: parts.lazy.compactMap(\.tags).first, enqueuedAt: first,
            startedAt: parts.compactMap(\.startedAt).min(),
            endedAt: parts.allSatisfy { $0.endedAt != nil } ? parts.compactMap(\.endedAt).max() : nil,
            scheduledFor: parts.lazy.compactMap(\.scheduledFor).first, devices: parts.flatMap(\.devices),
            nearMisses: parts.flatMap(\.nearMisses).uniqued())
        for part in parts {
            for (platform, names) in part.counts { counts[platform, default: [:]].merge(names) { $0 + $1 } }
        }
    }

    /// That of the part that is the furthest from its end; a platform that nobody has does not count beside one that somebody has.
    private static func state(of states: [State]) -> State {
        for state in [State.scheduled, .processing, .enqueued] where states.contains(state) { return state }
        for state in [State.unknown, .abandoned, .completed, .detailedStateAvailable] where states.contains(state) { return state }
        return states.allSatisfy { $0 == .canceled } && !states.isEmpty ? .canceled : states.isEmpty ? .unknown : .noTargetFound
    }

    /// It has not ended, and nothing but the push services keeps it.
    func isDue(at now: Timestamp) -> Bool { scheduledFor.map { $0 <= now } ?? false }
}
