import PushModel

/// Finds what is wrong at the end of a simulation.
struct SimulationCheck {
    private let store: any HubStore
    private let history: EventHistory.Contents

    init(_ simulation: DeliverySimulation) {
        store = simulation.stored
        history = simulation.world.history.contents
    }

    func flaws() async -> [String] {
        do throws(PushError) {
            let notifications = try await store.notifications(before: nil, limit: .max)
            var flaws = unknownOf(notifications) + (try await wronglyRemoved()) + wronglyTold(notifications)
            for stored in notifications {
                let devices = try await store.devices(ofNotification: stored.sequence, from: 0, limit: .max)
                flaws += Self.ending(stored, devices) + reach(stored, devices) + order(stored) + sends(of: stored)
            }
            return flaws
        } catch {
            return ["what is kept cannot be read: \(error.message)"]
        }
    }

    private func unknownOf(_ notifications: [StoredNotification]) -> [String] {
        let known = Set(notifications.map(\.outcome.id))
        return history.accepted.keys.filter { !known.contains($0) }.map { "\($0) was accepted and is lost" }
    }

    /// Hooks receive each end at most once, and nothing else.
    private func wronglyTold(_ notifications: [StoredNotification]) -> [String] {
        let ends = Dictionary(grouping: history.ends, by: \.id)
        let stored = Dictionary(uniqueKeysWithValues: notifications.map { ($0.outcome.id, $0.outcome) })
        return ends.flatMap { id, told in
            (told.count > 1 ? ["the end of \(id) is told \(told.count) times"] : [])
                + (told.allSatisfy { $0 == stored[id] } ? [] : ["\(id) has not ended as hooks were told"])
        }
    }

    /// Only deleted registrations and those with invalid tokens are gone.
    private func wronglyRemoved() async throws(PushError) -> [String] {
        let registered = Set(try await store.load().registrations.map(\.registration.id))
        let invalid = Set(history.sends.filter { $0.verdict?.isInvalidHandle == true }.map(\.handle))
        return history.lives.values.compactMap { life in
            let isGone = !registered.contains(life.registration.id)
            guard isGone, life.deleted == nil, !invalid.contains(life.registration.handle) else { return nil }
            return "registration \(life.registration.id) is gone for no reason"
        }
    }

    private static func ending(_ stored: StoredNotification, _ devices: [DeviceOutcome]) -> [String] {
        let outcome = stored.outcome
        var flaws: [String] = []
        if !outcome.state.isFinal || outcome.endedAt == nil { flaws.append("\(outcome.id) has no end: it is \(outcome.state.rawValue)") }
        var counted = NotificationOutcome(
            id: outcome.id, state: outcome.state, tags: nil, times: NotificationTimes(enqueuedAt: outcome.enqueuedAt))
        counted.tally.count(devices)
        if counted.counts != outcome.counts { flaws.append("\(outcome.id) counts \(outcome.counts), its devices are \(counted.counts)") }
        if counted.pruned != outcome.pruned { flaws.append("\(outcome.id) counts \(outcome.pruned) that left, and \(counted.pruned) did") }
        return flaws
    }

    // MARK: - Devices reached

    private func reach(_ stored: StoredNotification, _ devices: [DeviceOutcome]) -> [String] {
        let id = stored.outcome.id
        let times = Dictionary(devices.map { ($0.registrationID.map(\.text) ?? $0.handle.text, 1) }, uniquingKeysWith: +)
        var flaws = times.filter { $0.value > 1 }.map { "\(id) has \($0.value) outcomes for \($0.key)" }
        // A notification cancelled before its due time has no devices.
        if stored.outcome.startedAt != nil {
            flaws += expected(stored).filter { times[$0] == nil }.map { "\(id) has no outcome for \($0)" }
        }
        let sends = history.sends.filter { $0.notification == id }
        let accepted = Set(sends.filter { $0.verdict?.isAcceptance == true }.map(\.handle))
        for device in devices where device.outcome == .success && !accepted.contains(device.handle) {
            flaws.append("\(id) says that \(device.handle.text) got it, which it did not")
        }
        return flaws
    }

    /// The handles registered before the send was requested, and until its end.
    private func expected(_ stored: StoredNotification) -> [String] {
        if case .devices(let handles) = stored.request.audience { return handles.map(\.text) }
        guard let asked = history.accepted[stored.outcome.id] else { return [] }
        let invalid = Set(history.sends.filter { $0.verdict?.isInvalidHandle == true }.map(\.handle))
        return history.lives.values.filter { life in
            let tags = Set(life.registration.tags.map(\.text))
            let isMeant =
                switch stored.outcome.tags {
                case nil: true
                case "a": tags.contains("a")
                case "b": tags.contains("b")
                case "a && !b": tags.contains("a") && !tags.contains("b")
                case "a || b": !tags.isEmpty
                default: false
                }
            return isMeant && life.began < asked && life.deleted == nil && !invalid.contains(life.registration.handle)
        }.map(\.registration.id.text)
    }

    // MARK: - Order

    /// Once results are stored, the devices get no further push, and no device gets one after the end.
    private func order(_ stored: StoredNotification) -> [String] {
        let id = stored.outcome.id
        let keeps = history.keeps.filter { $0.sequence == stored.sequence }
        var completed: [DeviceHandle: Int] = [:]
        for keep in keeps {
            for device in keep.devices where device.outcome != .skipped || device.reason == "Hook" {
                completed[device.handle] = min(completed[device.handle] ?? .max, keep.event)
            }
        }
        let end = min(keeps.first(where: \.isFinal)?.event ?? .max, history.cancelled[id] ?? .max)
        let shared = Set(Dictionary(grouping: history.lives.values, by: \.registration.handle).filter { $0.value.count > 1 }.keys)
        var flaws: [String] = keeps.count(where: \.isFinal) > 1 ? ["\(id) ended more than once"] : []
        for send in history.sends where send.notification == id {
            if send.event > end { flaws.append("\(id) was sent to \(send.handle.text) after its end") }
            // If two registrations share a handle, the other one may come first after a restoration.
            let isSure = history.restorations == 0 || !shared.contains(send.handle)
            if isSure, let time = completed[send.handle], send.event > time {
                flaws.append("\(id) was sent to \(send.handle.text) again, although its result was known")
            }
        }
        return flaws
    }

    /// A push accepted by a service is repeated only by a process that cannot know about it.
    private func sends(of stored: StoredNotification) -> [String] {
        let taken = history.sends.filter { $0.notification == stored.outcome.id && $0.verdict?.isAcceptance == true }
        return Dictionary(taken.map { ($0.handle.text, 1) }, uniquingKeysWith: +).filter { $0.value > 1 + history.crashes }.map {
            "\(stored.outcome.id) was taken \($0.value) times for \($0.key), with \(history.crashes) crashes"
        }
    }
}
