// What hooks rule about the devices of a notification, and those that they hold.
extension NotificationHub {
    /// Asks hooks about the targets of a notification, platform by platform, and settles those that are not to have it.
    ///
    /// Nobody is asked about what has to end now, or has expired, nor about those that wait for their moment already.
    /// - Returns: those that are held. They are no targets any more.
    func askAbout(
        _ targets: inout Targets, _ kept: KeptNotification, since start: Timestamp, _ delivery: inout Delivery
    ) async -> Holds {
        guard !targets.isEmpty, !stops.contains(kept.sequence), !hasExpired(delivery.outcome, kept.request) else { return Holds() }
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
            // Of whoever was cut off nobody knows what it would have said.
            if stops.contains(kept.sequence) || isStopping && Task.isCancelled { return waiting }
            rulings.add(group, failure, isTest: kept.request.isTest, now: environment.clock.now)
        }
        let parts = rulings.take(from: &targets)
        for part in parts {
            if let explanation = part.explanation {
                environment.note(.delivery, "\(kept.outcome.id): \(part.members.count) are not sent to: \(explanation)")
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

    /// When a notification with such holds goes on; nil where nothing is held. What expires before that is told so then.
    func wakeMoment(of holds: Holds, _ outcome: NotificationOutcome, _ request: NotificationRequest) -> Timestamp? {
        guard let moment = holds.moment else { return nil }
        guard let expiration = request.options.expiration, let began = outcome.startedAt, began < expiration else { return moment }
        return min(moment, expiration)
    }

    private func hasExpired(_ outcome: NotificationOutcome, _ request: NotificationRequest) -> Bool {
        guard let expiration = request.options.expiration, let began = outcome.startedAt else { return false }
        return began < expiration && expiration <= environment.clock.now
    }

    /// All that is left of a notification is held until then; it has no place.
    func hold(_ id: String, _ sequence: Int64, until moment: Timestamp) {
        // It was stopped while it gave its place back.
        guard !stops.contains(sequence) else { return takePlace(sequence) { hub in await hub.goOn(sequence, nil) } }
        environment.note(.schedule, "\(id) is held until \(moment)")
        schedule.insert(id, Schedule.Entry(sequence: sequence, moment: moment, isHeld: true))
        endings.dismiss(id)
        rearm()
    }

    // MARK: - What a group is asked

    func counts(of tags: [Tag], among places: PlaceSet) -> [Int] { tags.map { table.index.places(of: $0).countCommon(places) } }

    func places(of tags: [Tag]) -> [Tag: PlaceSet] {
        tags.reduce(into: [:]) { found, tag in if found[tag] == nil { found[tag] = table.index.places(of: tag) } }
    }

    /// Those of these devices that are there still, but for those whose rows cannot be read; tried again until the hub stops.
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

/// What hooks ruled about all platforms of a notification.
private struct Rulings {
    /// Targets that do not get it, for one reason.
    struct Part {
        var outcome = OutcomeName.skipped
        /// Nil of duplicates.
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

    private var causes: [(cause: Cause, devices: PlaceSet)] = []
    /// Where each stands among these.
    private var places: [Cause: Int] = [:]
    private var refused = PlaceSet()
    private var held = PlaceSet()
    private(set) var holds = Holds()

    /// - Parameter failure: where nobody of the group may get it that nothing was ruled about.
    mutating func add(_ group: DeliveryGroup, _ failure: PushError?, isTest: Bool, now: Timestamp) {
        let (ruled, open) = group.close()
        for ruling in ruled {
            switch ruling.fate {
            case .pass: break
            // Hooks behind it were not asked about these: they are when the moment has come, which may be now.
            case .hold(let moment) where !isTest:
                let moment = min(max(moment, now + Holds.shortest), now + Holds.longest)
                holds.add(ruling.devices, on: group.platform, until: moment, ruling.reason)
                held.formUnion(ruling.devices)
            // Whoever sends a test waits for the verdicts.
            case .hold, .skip: refuse(ruling.devices, .skipped, ruling.reason)
            }
        }
        // Somebody has to see to it: that is no choice of a hook's.
        if let failure { refuse(open, .abandoned, failure.message) }
    }

    private mutating func refuse(_ devices: PlaceSet, _ outcome: OutcomeName, _ explanation: String) {
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

    /// Takes those that do not get it now out of the targets, and answers those that do not get it at all. A duplicate shares the fate of
    /// its original.
    mutating func take(from targets: inout Targets) -> [Part] {
        guard !refused.isEmpty || !held.isEmpty else { return [] }
        var gone = refused
        gone.formUnion(held)
        let pairs = targets.take(gone)
        holds.duplicates = pairs.filter { held.contains($0.original) }.map(\.duplicate)
        let duplicates = pairs.filter { refused.contains($0.original) }.map(\.duplicate)
        if targets.direct != nil, !holds.isEmpty {
            // A handle that was told as a duplicate would count as done when the other one goes on.
            (holds.duplicates, targets.duplicates) = (targets.duplicates, [])
        }
        let parts = causes.map { Part(outcome: $0.outcome, explanation: $0.explanation, members: $1.places) }
        return duplicates.isEmpty ? parts : parts + [Part(members: duplicates)]
    }
}

extension HookedDevice {
    fileprivate init(_ row: PlacedRegistration) {
        let registration = row.registration
        self.init(
            number: row.place, registrationID: registration.id, installationID: registration.installationID, tags: registration.tags,
            templateName: registration.template?.name)
    }
}

extension Patience {
    /// Of a notification that begins, or has begun before this process or before it was held: then it has nothing to wait for.
    init?(of kept: KeptNotification, _ environment: HubEnvironment) {
        guard let began = kept.outcome.startedAt else { return nil }
        self.init(began: began, start: environment.steady.now, services: [:])
    }
}
