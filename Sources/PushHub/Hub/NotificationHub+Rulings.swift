import PushModel

// Decisions of hooks about single devices of a notification, and deferred devices.
extension NotificationHub {
    /// Asks the `beforeDeliver` hooks about the targets, platform by platform, and records the devices that get nothing.
    ///
    /// Hooks are skipped for expired and cancelled sends, and for devices that are deferred already.
    /// - Returns: the deferred devices, which are removed from `targets`.
    func consultHooks(
        _ targets: inout Targets, _ kept: StoredNotification, since start: Timestamp, _ delivery: inout DeliveryTally
    ) async -> DeferredDevices {
        guard !targets.isEmpty, !stops.contains(kept.sequence), !hasExpired(delivery.outcome, kept.request) else {
            return DeferredDevices()
        }
        let waiting = kept.holds.waiting(after: environment.clock.now, outOf: &targets) { table.mark(at: $0) }
        guard environment.hooks.isWanted(.beforeDeliver), !targets.isEmpty else { return waiting }
        var rulings = Rulings()
        for (platform, members) in targets.byPlatform {
            let group = DeliveryGroup(
                members, on: platform, isDirect: targets.direct != nil, of: kept, origin: kept.origin, service: self)
            var failure: PushError?
            do throws(PushError) {
                try await environment.hooks.beforeDeliver(group)
            } catch {
                failure = error
            }
            // A cancelled hook gave no complete answer.
            if stops.contains(kept.sequence) || isStopping && Task.isCancelled { return waiting }
            rulings.add(group, failure, isTest: kept.request.isTest, now: environment.clock.now)
        }
        let parts = rulings.take(from: &targets)
        for part in parts {
            if let explanation = part.explanation {
                environment.note(.delivery, "\(kept.outcome.id): not sent to \(part.members.count) devices: \(explanation)")
            }
            for first in stride(from: 0, to: part.members.count, by: settings.devicesPerBatch) {
                let members = Array(part.members[first..<min(first + settings.devicesPerBatch, part.members.count)])
                let settled = zip(members, recipients(members, RecipientGroup(), of: targets)).map(part.settled)
                await note(settled, since: start, &delivery)
            }
        }
        var holds = waiting
        holds.add(rulings.holds)
        if targets.direct == nil { holds.note { table.mark(at: $0) } }
        return holds
    }

    /// When a notification with deferred devices resumes; nil if there are none. Not later than its expiration, so that expiry is reported
    /// in time.
    func resumeTime(of holds: DeferredDevices, _ outcome: NotificationOutcome, _ request: NotificationRequest) -> Timestamp? {
        guard let moment = holds.moment else { return nil }
        guard let expiration = request.options.expiration, let began = outcome.startedAt, began < expiration else { return moment }
        return min(moment, expiration)
    }

    private func hasExpired(_ outcome: NotificationOutcome, _ request: NotificationRequest) -> Bool {
        guard let expiration = request.options.expiration, let began = outcome.startedAt else { return false }
        return began < expiration && expiration <= environment.clock.now
    }

    /// Schedules a notification of which only deferred devices are left. It holds no delivery slot meanwhile.
    func hold(_ id: String, _ sequence: Int64, until moment: Timestamp) {
        // It was cancelled before it was scheduled.
        guard !stops.contains(sequence) else { return runSend(sequence) { hub in await hub.resume(sequence, nil) } }
        environment.note(.schedule, "\(id) is deferred until \(moment)")
        schedule.insert(id, Schedule.Entry(sequence: sequence, moment: moment, isHeld: true))
        completionWaiters.dismiss(id)
        rearm()
    }

    // MARK: - Queries of delivery groups

    func counts(of tags: [Tag], among places: RowSet) -> [Int] { tags.map { table.index.places(of: $0).countCommon(places) } }

    func places(of tags: [Tag]) -> [Tag: RowSet] {
        tags.reduce(into: [:]) { found, tag in if found[tag] == nil { found[tag] = table.index.places(of: tag) } }
    }

    /// The devices that are still registered in these rows. Retries until the hub stops, and leaves out rows that cannot be read.
    func hookedDevices(at places: [UInt32]) async -> [HookedDevice] {
        var pause = Self.firstPause
        while !isStopping, !Task.isCancelled {
            do throws(PushError) {
                return try await rows(stillAt: places).map(HookedDevice.init)
            } catch {
                environment.warn(.delivery, "devices cannot be read: \(error.message)")
                if !error.isRetryable { break }
                await rest(&pause)
            }
        }
        guard places.count > 1, !isStopping, !Task.isCancelled else { return [] }
        var found: [HookedDevice] = []
        for place in places { found += await hookedDevices(at: [place]) }
        return found
    }
}

/// The decisions of hooks about all platforms of a notification.
private struct Rulings {
    /// Targets that do not get the notification, for one reason.
    struct Part {
        var outcome = OutcomeName.skipped
        /// Nil for duplicates.
        var explanation: String?
        var members: [UInt32]

        func settled(_ member: UInt32, _ recipient: Recipient) -> SettledTarget {
            guard let explanation else { return SendPipeline.skipped(member, recipient) }
            return SettledTarget(
                order: Int(member),
                result: DeliveryResult(device: recipient.outcome(outcome, reason: Recipient.ruled, explanation, size: 0)))
        }
    }

    private struct Cause: Hashable {
        var outcome: OutcomeName
        var explanation: String
    }

    private var causes: [(cause: Cause, devices: RowSet)] = []
    /// Indices into `causes`.
    private var places: [Cause: Int] = [:]
    private var refused = RowSet()
    private var held = RowSet()
    private(set) var holds = DeferredDevices()

    /// - Parameter failure: the error of a failed hook; the devices without a decision are then abandoned.
    mutating func add(_ group: DeliveryGroup, _ failure: PushError?, isTest: Bool, now: Timestamp) {
        let (ruled, open) = group.close()
        for ruling in ruled {
            switch ruling.fate {
            case .pass: break
            // The remaining hooks have not seen these devices. They are asked when the deferral ends, which may be at once.
            case .hold(let moment) where !isTest:
                let moment = min(max(moment, now + DeferredDevices.shortest), now + DeferredDevices.longest)
                holds.add(ruling.devices, on: group.platform, until: moment, ruling.reason)
                held.formUnion(ruling.devices)
            // The sender of a test waits for the results, so nothing is deferred.
            case .hold, .skip: refuse(ruling.devices, .skipped, ruling.reason)
            }
        }
        // Abandoned, not skipped: a failed hook is an error, not a decision.
        if let failure { refuse(open, .abandoned, failure.message) }
    }

    private mutating func refuse(_ devices: RowSet, _ outcome: OutcomeName, _ explanation: String) {
        guard !devices.isEmpty else { return }
        refused.formUnion(devices)
        let cause = Cause(outcome: outcome, explanation: explanation)
        if let place = places[cause] {
            causes[place].devices.formUnion(devices)
        } else {
            places[cause] = causes.count
            causes.append((cause, devices))
        }
    }

    /// Removes refused and deferred devices from `targets`, and returns the refused ones. A duplicate is treated like its original.
    mutating func take(from targets: inout Targets) -> [Part] {
        guard !refused.isEmpty || !held.isEmpty else { return [] }
        var gone = refused
        gone.formUnion(held)
        let pairs = targets.take(gone)
        holds.duplicates = pairs.filter { held.contains($0.original) }.map(\.duplicate)
        let duplicates = pairs.filter { refused.contains($0.original) }.map(\.duplicate)
        if targets.direct != nil, !holds.isEmpty {
            // Reporting a duplicate handle would mark the original as done when the notification resumes.
            (holds.duplicates, targets.duplicates) = (targets.duplicates, [])
        }
        let parts = causes.map { Part(outcome: $0.outcome, explanation: $0.explanation, members: $1.places) }
        return duplicates.isEmpty ? parts : parts + [Part(members: duplicates)]
    }
}

extension HookedDevice {
    fileprivate init(_ row: RegistrationRow) {
        let registration = row.registration
        self.init(
            number: row.place, registrationID: registration.id, installationID: registration.installationID, tags: registration.tags,
            templateName: registration.template?.name)
    }
}

extension RetryState {
    /// The retry state of a notification that started earlier, in another process or before a deferral; it waits for no push service. Nil
    /// if it has not started.
    init?(of kept: StoredNotification, _ environment: HubEnvironment) {
        guard let began = kept.outcome.startedAt else { return nil }
        self.init(began: began, start: environment.steady.now, services: [:])
    }
}
