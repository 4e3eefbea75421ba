import PushModel

/// Reads notifications and their results, as they are now.
///
/// Not thread-safe: it is part of the actor that owns the services.
struct NotificationLookup {
    let services: DeliveryServices

    private var active: ActiveNotifications { services.active }
    private var store: any HubStore { services.context.store }

    /// The outcome with its first 10,000 stored devices. The counts are complete.
    func outcome(of id: String) async throws(PushError) -> NotificationOutcome {
        if let outcome = active[id] { return outcome }
        let stored = try await stored(id)
        // Delivery may have started while the store was read.
        if let outcome = active[id] { return outcome }
        var outcome = stored.outcome
        while outcome.devices.count < Self.devicesShown {
            let more = try await store.devices(
                ofNotification: stored.sequence, from: outcome.devices.count, limit: 1000)
            outcome.devices += more
            if more.count < 1000 { break }
        }
        return outcome
    }

    private static let devicesShown = 10_000

    /// The stored request and the current state, without devices.
    func notification(_ id: String) async throws(PushError) -> StoredNotification {
        var stored = try await stored(id)
        if let outcome = active[id] { stored.outcome = outcome.withoutUnstoredEnd }
        return stored
    }

    /// Lists notifications, newest first, from below a sequence number or from the newest.
    ///
    /// - Parameter scheduled: the sequence numbers to list instead.
    func notifications(before sequence: Int64?, limit: Int, scheduled: [Int64]? = nil) async throws(PushError) -> [StoredNotification] {
        let found: [StoredNotification]
        if let scheduled {
            found = try await store.unfinished(scheduled).sorted { $0.sequence > $1.sequence }
        } else {
            found = try await store.notifications(before: sequence, limit: limit)
        }
        return found.map { stored in
            var stored = stored
            if let outcome = active[stored.outcome.id] { stored.outcome = outcome.withoutUnstoredEnd }
            return stored
        }
    }

    /// Loads a notification. Throws `notification.not_found` (404).
    private func stored(_ id: String) async throws(PushError) -> StoredNotification {
        if let sequence = NotificationID.sequence(of: id), let stored = try await store.notification(sequence), stored.outcome.id == id {
            return stored
        }
        // Suggests the most similar id among the latest.
        let known = try await store.notifications(before: nil, limit: 20).map(\.outcome.id)
        let near = nearest(id, in: known)
        throw PushError(
            "notification.not_found", "unknown notification \"\(id.prefix(80))\"",
            hint: near.map { "did you mean \"\($0)\"?" } ?? "pass the id that send returned", status: 404)
    }
}

extension NotificationOutcome {
    /// Without devices, and not final yet: a caller that sees a final state may read the devices, which are not stored yet.
    fileprivate var withoutUnstoredEnd: NotificationOutcome {
        var outcome = self
        outcome.devices = []
        if outcome.state.isFinal { (outcome.state, outcome.times.endedAt) = (.processing, nil) }
        return outcome
    }
}
