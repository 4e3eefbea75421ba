import PushModel

/// The parts of one notification. A hub accepts one platform at a time, so that a notification with payloads for several platforms has
/// several ids there; its own id joins these ids with commas.
enum NotificationParts {
    private static let separator: Character = ","

    /// The ids of the parts.
    static func ids(of id: String) -> [String] { id.split(separator: separator).map(String.init) }

    /// The id of the notification.
    static func id(joining ids: [String]) -> String { ids.joined(separator: String(separator)) }

    /// Merges the outcomes of the parts into one.
    static func merged(_ outcomes: [NotificationOutcome], id: String) -> NotificationOutcome {
        let first = outcomes.map(\.enqueuedAt).filter { $0 > Timestamp(milliseconds: 0) }.min() ?? Timestamp(milliseconds: 0)
        var merged = NotificationOutcome(
            id: id, state: Self.state(of: outcomes.map(\.state)), tags: outcomes.lazy.compactMap(\.tags).first,
            times: NotificationTimes(
                enqueuedAt: first, scheduledFor: outcomes.lazy.compactMap(\.scheduledFor).first,
                startedAt: outcomes.compactMap(\.startedAt).min(),
                endedAt: outcomes.allSatisfy { $0.endedAt != nil } ? outcomes.compactMap(\.endedAt).max() : nil),
            devices: outcomes.flatMap(\.devices),
            nearMisses: outcomes.flatMap(\.nearMisses).uniqued())
        for part in outcomes {
            for (platform, names) in part.counts { merged.tally.counts[platform, default: [:]].merge(names) { $0 + $1 } }
        }
        return merged
    }

    /// The state of the part that is furthest from its end. A platform without devices counts only if no platform has devices.
    private static func state(of states: [NotificationOutcome.State]) -> NotificationOutcome.State {
        for state in [NotificationOutcome.State.scheduled, .processing, .enqueued] where states.contains(state) { return state }
        for state in [NotificationOutcome.State.unknown, .abandoned, .completed, .detailedStateAvailable] where states.contains(state) {
            return state
        }
        return states.allSatisfy { $0 == .canceled } && !states.isEmpty ? .canceled : states.isEmpty ? .unknown : .noTargetFound
    }
}
