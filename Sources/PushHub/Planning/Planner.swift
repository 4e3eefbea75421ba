import PushModel

/// Makes plans, which are dry runs, and compares them with the audience of now.
///
/// Works outside the actor that owns the registrations, which stays free for other calls.
struct Planner: Sendable {
    let environment: HubEnvironment
    let store: any HubStore
    let host: any PlanHost

    private var plans: StoredPlans { StoredPlans(environment: environment, store: store) }

    /// Reports exactly which devices a send would reach, and with what. Sends nothing, calls no hooks, and stores only the plan.
    ///
    /// Throws what `send` would: `payload.*`, `handle.invalid`.
    /// - Parameter maker: the name of the key that requests the plan.
    func plan(_ request: PlanRequest, by maker: String?, _ lifecycle: HubLifecycle, _ rows: StoredRows) async throws(PushError)
        -> PlanReport
    {
        let survey = try await host.survey(request)
        let (audience, groups) = survey.sorted()
        var report = survey.report(audience, groups, by: maker)
        try await TagTally.count(audience, survey, rows, into: &report)
        guard request.audience.handles.isEmpty else { return report }
        let subject = request.subject
        if let before = try await store.latestPlan(of: subject) {
            report.difference = try await difference(from: before, to: audience)
        }
        if request.isStored {
            try lifecycle.checkIsOpen()
            report.expiresAt = survey.now + (await host.planRetention.plans)
            let stored = StoredPlan(number: 0, subject: subject, members: audience.count, report: report)
            report.id = PlanID.text(try await store.addPlan(stored, parts: audience.parts))
        }
        report.devices = try await shown(audience.part(0..<min(max(0, request.deviceLimit), PlanRequest.maximumDevices, audience.count)))
        guard let id = report.id else { return report }
        try await plans.removeOld(await host.planRetention)
        environment.note(
            .audience, "plan \(id): \(report.total) \(report.content == nil ? "registrations" : "devices"), \(report.duplicates) duplicates"
        )
        return report
    }

    /// A stored plan. Throws `plan.not_found` (404), `plan.expired` (410).
    func plan(_ id: String) async throws(PushError) -> PlanReport {
        let stored = try await plans.plan(id)
        var report = stored.report
        report.sentAs = try await store.notifications(ofPlan: stored.number, limit: Self.sendsListed)
        return report
    }

    private static let sendsListed = 10

    /// The devices of a plan from index `start` on, in their current state. Throws `plan.not_found` (404), `plan.expired` (410).
    func devices(ofPlan id: String, from start: Int, limit: Int) async throws(PushError) -> [PlannedDevice] {
        let stored = try await plans.plan(id)
        guard start < stored.members else { return [] }
        var found = PlannedAudience()
        var (part, begin) = (start / PlannedAudience.partSize, start % PlannedAudience.partSize)
        while found.count < limit {
            var read = PlannedAudience()
            guard try await plans.append(part, of: stored, to: &read), begin < read.count else { break }
            read.members = Array(read.members[begin..<min(read.count, begin + limit - found.count)])
            if found.count == 0 { found = read } else { found.append(read) }
            (part, begin) = (part + 1, 0)
        }
        return try await shown(found)
    }

    // MARK: - Planned sends

    /// Resolves a planned send to a request. Throws `plan.not_found` (404), `plan.expired` (410), `plan.content` (409).
    func request(_ planned: PlannedSend) async throws(PushError) -> NotificationRequest {
        let stored = try await plans.plan(planned.binding.id)
        if let content = planned.content, let its = stored.report.content, content != its { throw PushError.planContent(stored.id) }
        guard let content = planned.content ?? stored.report.content else { throw PushError.planWithoutContent(stored.id) }
        return NotificationRequest(
            audience: stored.report.audience, content: content, options: planned.options, pace: planned.pace, plan: planned.binding)
    }

    /// Throws `plan.drifted` (409) if the audience has changed by more than the tolerance since the request's plan was made. Does nothing
    /// for a request without a plan.
    ///
    /// Devices that register later get nothing in any case: only the plan's devices are sent to.
    func checkDrift(_ request: NotificationRequest) async throws(PushError) {
        guard let binding = request.plan else { return }
        let stored = try await plans.plan(binding.id)
        let planned = try await plans.audience(of: stored)
        let now = try await host.survey(PlanRequest(audience: stored.report.audience, content: stored.report.content, isStored: false))
            .sorted()
            .audience
        let drift = planned.difference(to: now)
        guard drift.count > binding.tolerance.most(of: planned.count) else { return }
        throw PushError.drifted(
            stored, binding.tolerance, joined: try await drifted(drift.joined, of: now), left: try await drifted(drift.left, of: planned),
            changed: try await drifted(drift.changed, of: now))
    }

    private func drifted(_ members: [Int], of audience: PlannedAudience) async throws(PushError) -> DriftedDevices {
        DriftedDevices(count: members.count, first: try await shown(audience.part(members.prefix(Self.devicesListed))))
    }

    // MARK: - Devices

    /// Maximum number of devices that a difference lists.
    private static let devicesListed = 10

    private func difference(
        from before: StoredPlan, to audience: PlannedAudience
    ) async throws(PushError) -> PlanReport.Difference? {
        let earlier: PlannedAudience
        do throws(PushError) {
            earlier = try await plans.audience(of: before)
        } catch {
            // The previous plan is deleted or corrupt. The new one does not need it.
            guard !error.isRetryable else { throw error }
            return nil
        }
        let found = earlier.difference(to: audience)
        return PlanReport.Difference(
            planID: before.id, plannedAt: before.report.plannedAt, joined: found.joined.count, left: found.left.count,
            changed: found.changed.count,
            firstJoined: try await shown(audience.part(found.joined.prefix(Self.devicesListed))),
            firstLeft: try await shown(earlier.part(found.left.prefix(Self.devicesListed))))
    }

    /// The current state of these devices.
    private func shown(_ audience: PlannedAudience) async throws(PushError) -> [PlannedDevice] {
        guard audience.count > 0 else { return [] }
        var rows: [RegistrationID: Registration] = [:]
        for row in try await host.rows(of: audience) { rows[row.registration.id] = row.registration }
        var devices: [PlannedDevice] = []
        for member in audience.members {
            let (id, kind) = (audience.id(of: member), audience.kinds[member.kind])
            var device = PlannedDevice(registrationID: id, platform: kind.platform)
            (device.templateName, device.isTemplate, device.bytes) = (kind.templateName, kind.isTemplate, kind.bytes)
            (device.isDuplicate, device.isRefused) = (member.isDuplicate, kind.isRefused)
            if let row = rows[id] {
                device.handle = row.handle.abbreviated
                device.installationID = row.installationID
                device.user = row.tags.lazy.compactMap(\.user).first
            } else {
                device.hasLeft = true
                device.installationID = try await store.deletedRegistrations(.registration(id), limit: 1).first?.installationID
            }
            devices.append(device)
        }
        return devices
    }
}

extension Tag {
    /// The user id in a user tag; nil for other tags.
    fileprivate var user: String? {
        if isUserTag { return username }
        guard reservedForm == "$userid", let open = text.firstIndex(of: "{"), text.hasSuffix("}") else { return nil }
        return String(text[text.index(after: open)...].dropLast())
    }
}

extension PlannedAudience {
    /// The members with these indices.
    func part(_ numbers: some Collection<Int>) -> PlannedAudience {
        PlannedAudience(
            kinds: kinds, members: numbers.map { members[$0] },
            unusual: unusual.isEmpty ? [:] : unusual.filter { row, _ in numbers.contains { members[$0].row == row } })
    }

    /// Appends the members and kinds of another audience.
    fileprivate mutating func append(_ other: PlannedAudience) {
        let offset = kinds.count
        kinds += other.kinds
        members += other.members.map { $0.shifted(by: offset) }
        unusual.merge(other.unusual) { _, new in new }
    }
}

/// Devices by which an audience differs from its plan.
private struct DriftedDevices {
    let count: Int
    /// The first of them.
    let first: [PlannedDevice]
}

extension PushError {
    /// The ids of up to three devices, in parentheses.
    private static func names(_ devices: [PlannedDevice]) -> String {
        let names = devices.prefix(3).compactMap { $0.installationID ?? $0.registrationID?.text }
        return names.isEmpty ? "" : " (\(names.joined(separator: ", "))\(devices.count > names.count ? ", …" : ""))"
    }

    fileprivate static func drifted(
        _ stored: StoredPlan, _ tolerance: DriftTolerance, joined: DriftedDevices, left: DriftedDevices, changed: DriftedDevices
    ) -> PushError {
        let most = tolerance.most(of: stored.members)
        let all = joined.count + left.count + changed.count
        let changes = changed.count == 0 ? "" : ", \(changed.count) would get something else\(names(changed.first))"
        return PushError(
            "plan.drifted",
            "the audience of plan \(stored.id) has drifted since \(stored.report.plannedAt.iso8601(fraction: false)): \(joined.count) joined\(names(joined.first)), "
                + "\(left.count) left\(names(left.first))\(changes); at most \(most) of its \(stored.members) devices may differ; not sent",
            hint:
                "make a new plan and check it; or send with a tolerance of \(all), which reaches only devices of the plan that are still "
                + "registered", status: 409,
            details: [
                "plan": .string(stored.id), "joined": .integer(Int64(joined.count)), "left": .integer(Int64(left.count)),
                "changed": .integer(Int64(changed.count)), "tolerated": .integer(Int64(most)), "planned": .integer(Int64(stored.members)),
                "firstJoined": .array(joined.first.map(\.document)), "firstLeft": .array(left.first.map(\.document)),
                "firstChanged": .array(changed.first.map(\.document)),
            ])
    }
}
