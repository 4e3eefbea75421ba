import PushModel

/// Explains from stored results why a device did or did not show a notification.
///
/// Not thread-safe: it is part of the actor that owns the services.
struct DeliveryTracer {
    let services: DeliveryServices
    /// The sequence number of the newest notification.
    let lastSequence: () -> Int64

    private var directory: RegistrationDirectory { services.directory }
    private var environment: HubEnvironment { directory.environment }
    private var store: any HubStore { directory.store }
    private var finder: TracedDeviceFinder { TracedDeviceFinder(directory: directory) }

    /// Explains a delivery. Reads only the stored results of the device in question, which takes some tenths of a second for a
    /// notification to a million devices. Does not block the hub.
    func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer {
        let stored = try await traced(question.notification)
        var answer = TraceAnswer(
            notification: stored.outcome.id, state: stored.outcome.state, tags: stored.outcome.tags, time: stored.outcome.enqueuedAt,
            nearMisses: stored.outcome.notices.filter(\.explainsAbandonment).map(\.text) + stored.outcome.nearMisses)
        guard let text = question.device else {
            answer.counts = try await counts(of: stored)
            return answer
        }
        let (devices, further) = try await finder.devices(text, in: stored)
        for device in devices { answer.traces.append(Tracer.trace(try await facts(of: device, stored))) }
        answer.furtherDevices = further
        return answer
    }

    /// Throws `notification.forgotten` for a notification that has been deleted, and `notification.not_found`.
    private func traced(_ id: String) async throws(PushError) -> StoredNotification {
        do throws(PushError) {
            return try await NotificationLookup(services: services).notification(id)
        } catch  where error.code == "notification.not_found" {
            guard let sequence = NotificationID.sequence(of: id), sequence > 0, sequence <= lastSequence(),
                NotificationID.isComplete(id), try await store.notification(sequence) == nil
            else { throw error }
            throw PushError(
                "notification.forgotten", "the notification \(id) and its results are no longer stored",
                hint: "notifications are deleted some time after their end: trace sooner, or raise keep.notifications", status: 404)
        }
    }

    // MARK: - Facts

    /// Maximum number of results read per device, over all its registrations.
    private static let mostRows = 100
    /// Number of later notifications searched for the push that replaced one.
    private static let maximumReplacements = 20

    private func facts(of device: TracedDevice, _ stored: StoredNotification) async throws(PushError) -> TraceFacts {
        let (sequence, request, query) = (stored.sequence, stored.request, device.query)
        // Read unstored results first, because they may be stored in the meantime.
        let fresh = services.active.unstoredResults(of: sequence)?.matching(query) ?? []
        let known = try await store.outcomes(ofNotification: sequence, matching: query, limit: Self.mostRows)
        let rows = known + fresh.filter { row in !known.contains { $0.device == row.device } }
        var facts = TraceFacts(
            now: services.context.now, stored: stored, device: device, rows: rows,
            candidates: device.registrations.map { TraceFacts.Candidate($0.registration, of: request) }, matched: 0,
            issues: services.pipeline.health.issues())
        if rows.isEmpty, request.isTest { facts.matched = services.targets(of: request).count }
        if rows.isEmpty, let binding = request.plan { facts.plan = try await plan(of: device, binding) }
        if rows.isEmpty, !stored.outcome.state.isFinal {
            facts.hold = hold(of: device, stored)
            if request.pace != nil, stored.outcome.state == .processing { facts.estimatedTime = estimatedTime(of: device, stored) }
        }
        let row = rows.last { $0.device.outcome == .success }
        if let handle = row?.device.handle ?? device.handles.first {
            facts.result = await environment.deviceObserver?.result(of: row?.device.pushID, at: handle)
        }
        if case .replaced(let push)? = facts.result?.events.last?.kind { facts.replacement = await notification(of: push, after: sequence) }
        return facts
    }

    private func plan(of device: TracedDevice, _ binding: PlanBinding) async throws(PushError) -> TraceFacts.Plan {
        // Members count even if the plan has expired since: the notification was accepted for them.
        guard let number = PlanID.number(of: binding.id), let plan = try await store.plan(number) else { return .forgotten }
        do throws(PushError) {
            let members = try await services.plans.members(of: plan, among: Set(device.registrations.map(\.registration.id)))
            return .stored(madeAt: plan.report.plannedAt, members: members)
        } catch {
            guard !error.isRetryable else { throw error }
            return .forgotten
        }
    }

    private func hold(of device: TracedDevice, _ stored: StoredNotification) -> TraceFacts.Hold? {
        let rows: [(row: UInt32, mark: UInt32?)] =
            stored.request.audience.handles.isEmpty
            ? device.registrations.map { ($0.row, directory.table.columns.mark(at: $0.row)) }
            : stored.request.audience.handles.enumerated().filter { device.handles.contains($1) }.map { (UInt32($0.offset), nil) }
        return rows.lazy.compactMap { stored.deferredDevices.wait(at: $0.row, mark: $0.mark) }.first
            .map { TraceFacts.Hold(until: $0.time, reason: $0.reason) }
    }

    /// The estimated time at which a paced send reaches the device; nil if the device is not a target. Platforms alternate.
    private func estimatedTime(of device: TracedDevice, _ stored: StoredNotification) -> Timestamp? {
        guard let pace = stored.request.pace, let started = stored.outcome.startedAt else { return nil }
        let rows = Set(device.registrations.map(\.row))
        let lanes = services.targets(of: stored.request).byPlatform
        for lane in lanes {
            guard let number = lane.members.firstIndex(where: rows.contains) else { continue }
            let before = lanes.reduce(0) { $0 + min($1.members.count, number) }
            return max(services.context.now, started + pace.duration(of: before))
        }
        return nil
    }

    /// The id of the notification that a push belongs to.
    private func notification(of push: String, after sequence: Int64) async -> String? {
        let query = DeviceOutcomeQuery(push: DeviceOutcomeQuery.pushKey(push))
        let end = sequence + Int64(Self.maximumReplacements)
        var next = sequence + 1
        // Read again each time: the push may belong to a notification that is accepted meanwhile.
        while next <= min(lastSequence(), end) {
            defer { next += 1 }
            let isRecent = services.active.unstoredResults(of: next)?.matching(query).isEmpty == false
            let rows = isRecent ? [] : (try? await store.outcomes(ofNotification: next, matching: query, limit: 1)) ?? []
            guard isRecent || !rows.isEmpty else { continue }
            return (try? await store.notification(next))?.outcome.id
        }
        return nil
    }

    // MARK: - All devices

    /// Maximum number of devices whose simulated phones are examined one by one.
    private static let maximumPhones = 200

    private func counts(of stored: StoredNotification) async throws(PushError) -> [TraceAnswer.Count] {
        var counts: [TraceCause: TraceAnswer.Count] = [:]
        func add(_ trace: DeliveryTrace, _ devices: Int) {
            let first = TraceAnswer.Count(cause: trace.cause, devices: 0, example: trace.device, sentence: trace.sentence)
            counts[trace.cause, default: first].devices += devices
        }
        let fresh = services.active.unstoredResults(of: stored.sequence)
        if environment.deviceObserver != nil, stored.outcome.total <= Self.maximumPhones {
            let all = try await store.outcomes(ofNotification: stored.sequence, matching: nil, limit: Self.maximumPhones)
            for row in all + (fresh?.matching(nil) ?? []) { add(await trace(row, stored), 1) }
        } else {
            var tally = try await store.tally(ofNotification: stored.sequence)
            if let fresh { tally.add(fresh) }
            for (_, count) in tally.counts {
                add(Tracer.trace(facts(of: count.example, stored, name: count.example.device.traceName)), count.devices)
            }
        }
        let deferred = stored.deferredDevices
        if deferred.count > 0, !stored.outcome.state.isFinal {
            let time = deferred.time ?? services.context.now
            counts[.held] = TraceAnswer.Count(
                cause: .held, devices: deferred.count, example: "",
                sentence: "A plugin deferred it for \(Tracer.count(deferred.count, "device")), until \(time.inSentence) at the earliest.")
        }
        return counts.values.sorted { ($1.devices, $0.cause.rawValue) < ($0.devices, $1.cause.rawValue) }
    }

    private func trace(_ row: RecordedOutcome, _ stored: StoredNotification) async -> DeliveryTrace {
        let device = row.device
        let result = device.outcome == .success ? await environment.deviceObserver?.result(of: device.pushID, at: device.handle) : nil
        var name = device.installationID
        if name == nil { name = await finder.phoneName(of: device.handle) }
        var facts = facts(of: row, stored, name: name ?? device.traceName)
        facts.result = result
        if let id = device.registrationID, let registration = try? await directory.row(id)?.registration {
            facts.candidates = [TraceFacts.Candidate(registration, of: stored.request)]
        }
        if case .replaced(let push)? = result?.events.last?.kind {
            facts.replacement = await notification(of: push, after: stored.sequence)
        }
        return Tracer.trace(facts)
    }

    /// Facts about one of many devices, without further lookups.
    private func facts(of row: RecordedOutcome, _ stored: StoredNotification, name: String) -> TraceFacts {
        let device = row.device
        return TraceFacts(
            now: services.context.now, stored: stored,
            device: TracedDevice(
                name: name, platform: device.platform, installationID: device.installationID, handles: [device.handle]), rows: [row],
            candidates: [], matched: 0, issues: [])
    }
}

extension DeviceOutcome {
    /// A name by which the device can be traced.
    fileprivate var traceName: String { installationID ?? registrationID?.text ?? handle.abbreviated }
}
