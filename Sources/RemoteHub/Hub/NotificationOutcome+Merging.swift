import PushModel

extension NotificationOutcome {
    /// Merges the outcomes of several notifications, one per platform, into one.
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

    /// The state of the part that is furthest from its end. A platform without devices counts only if no platform has devices.
    private static func state(of states: [State]) -> State {
        for state in [State.scheduled, .processing, .enqueued] where states.contains(state) { return state }
        for state in [State.unknown, .abandoned, .completed, .detailedStateAvailable] where states.contains(state) { return state }
        return states.allSatisfy { $0 == .canceled } && !states.isEmpty ? .canceled : states.isEmpty ? .unknown : .noTargetFound
    }

    /// Whether a scheduled notification's due time has passed.
    func isDue(at now: Timestamp) -> Bool { scheduledFor.map { $0 <= now } ?? false }
}
