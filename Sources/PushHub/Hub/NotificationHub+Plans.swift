import PushModel

// Plans: dry runs that are stored, so that a send can be bound to one.
extension NotificationHub {
    /// Reports exactly which devices a send would reach, and with what. Sends nothing, calls no hooks, and stores only the plan.
    ///
    /// Throws what `send` would: `payload.*`, `handle.invalid`.
    /// - Parameter maker: the name of the key that requests the plan.
    package nonisolated func plan(_ request: PlanRequest, by maker: String?) async throws(PushError) -> PlanReport {
        let survey = try await survey(request)
        let (audience, groups) = survey.sorted()
        var report = survey.report(audience, groups, by: maker)
        try await addTags(of: audience, survey, to: &report)
        guard request.audience.handles.isEmpty else { return report }
        let subject = request.subject
        if let before = try await store.latestPlan(of: subject) {
            report.difference = try await difference(from: before, to: audience)
        }
        if request.isKept {
            try checkIsOpen()
            report.expiresAt = survey.now + (await settings.planRetention)
            let kept = StoredPlan(number: 0, subject: subject, members: audience.count, report: report)
            report.id = PlanID.text(try await store.addPlan(kept, parts: audience.parts))
        }
        report.devices = try await shown(audience.part(0..<min(max(0, request.told), PlanRequest.mostTold, audience.count)))
        guard let id = report.id else { return report }
        try await forgetPlans()
        environment.note(
            .audience, "plan \(id): \(report.total) \(report.content == nil ? "registrations" : "devices"), \(report.duplicates) duplicates"
        )
        return report
    }

    package nonisolated func plan(_ request: PlanRequest) async throws(PushError) -> PlanReport { try await plan(request, by: nil) }

    /// A stored plan. Throws `plan.not_found` (404), `plan.expired` (410).
    package nonisolated func plan(_ id: String) async throws(PushError) -> PlanReport {
        let kept = try await storedPlan(id)
        var report = kept.report
        report.sentAs = try await store.notifications(ofPlan: kept.number, limit: Self.sendsListed)
        return report
    }

    private static let sendsListed = 10

    /// Lists plans that have not expired, newest first, from below a number or from the newest.
    package nonisolated func plans(before number: Int64?, limit: Int) async throws(PushError) -> [StoredPlan] {
        let now = environment.clock.now
        return try await store.plans(before: number, limit: limit).filter { $0.report.expiresAt.map { $0 > now } ?? true }
    }

    /// The devices of a plan from index `start` on, in their current state. Throws `plan.not_found` (404), `plan.expired` (410).
    package nonisolated func devices(ofPlan id: String, from start: Int, limit: Int) async throws(PushError) -> [PlannedDevice] {
        let kept = try await storedPlan(id)
        guard start < kept.members else { return [] }
        var found = PlannedAudience()
        var (part, begin) = (start / PlannedAudience.partSize, start % PlannedAudience.partSize)
        while found.count < limit {
            var read = PlannedAudience()
            guard try await append(part, of: kept, to: &read), begin < read.count else { break }
            read.members = Array(read.members[begin..<min(read.count, begin + limit - found.count)])
            if found.count == 0 { found = read } else { found.append(read) }
            (part, begin) = (part + 1, 0)
        }
        return try await shown(found)
    }

    /// Deletes expired plans, and the oldest ones beyond the limit.
    nonisolated func forgetPlans() async throws(PushError) {
        let (keep, most) = await (settings.planRetention, settings.maximumPlans)
        let step = 8
        while !Task.isCancelled,
            try await store.removePlans(madeBefore: environment.clock.now + (.zero - keep), beyond: most, limit: step) == step
        {}
    }

    // MARK: - Stored plans

    nonisolated func storedPlan(_ id: String) async throws(PushError) -> StoredPlan {
        if let number = PlanID.number(of: id) {
            if let kept = try await store.plan(number) {
                guard kept.report.expiresAt.map({ $0 > environment.clock.now }) ?? true else { throw PushError.planExpired(id) }
                return kept
            }
            if number <= (try await store.lastPlan()) { throw PushError.planExpired(id) }
        }
        throw PushError.noPlan(id, known: try await plans(before: nil, limit: 50).map(\.id))
    }

    /// All devices of a plan. Throws `plan.expired` if the plan is deleted meanwhile.
    nonisolated func audience(of kept: StoredPlan) async throws(PushError) -> PlannedAudience {
        var audience = PlannedAudience()
        audience.members.reserveCapacity(kept.members)
        for part in 0..<PlannedAudience.partCount(of: kept.members) {
            guard try await append(part, of: kept, to: &audience) else { throw PushError.planExpired(kept.id) }
        }
        return audience
    }

    /// The registrations among `ids` that belong to a plan, which is read part by part. Throws `plan.expired` if it is deleted meanwhile.
    nonisolated func members(of kept: StoredPlan, among ids: Set<RegistrationID>) async throws(PushError) -> Set<RegistrationID> {
        var found: Set<RegistrationID> = []
        for part in 0..<PlannedAudience.partCount(of: kept.members) where found.count < ids.count {
            var audience = PlannedAudience()
            guard try await append(part, of: kept, to: &audience) else { throw PushError.planExpired(kept.id) }
            found.formUnion(audience.common(with: ids))
        }
        return found
    }

    /// Returns `false` if the part does not exist.
    private nonisolated func append(_ part: Int, of kept: StoredPlan, to audience: inout PlannedAudience) async throws(PushError) -> Bool {
        guard let bytes = try await store.planPart(kept.number, part: part) else { return false }
        guard audience.append(part: bytes) else {
            throw PushError(
                "storage.corrupt", "the devices of plan \(kept.id) cannot be read", hint: "make a new plan", status: 500)
        }
        return true
    }

    /// Maximum number of devices that a difference lists.
    static let devicesListed = 10

    private nonisolated func difference(
        from before: StoredPlan, to audience: PlannedAudience
    ) async throws(PushError) -> PlanReport.Difference? {
        let earlier: PlannedAudience
        do throws(PushError) {
            earlier = try await self.audience(of: before)
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
    nonisolated func shown(_ audience: PlannedAudience) async throws(PushError) -> [PlannedDevice] {
        guard audience.count > 0 else { return [] }
        var rows: [RegistrationID: Registration] = [:]
        for row in try await plannedRows(audience) { rows[row.registration.id] = row.registration }
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
                device.installationID = try await store.departed(.registration(id), limit: 1).first?.installationID
            }
            devices.append(device)
        }
        return devices
    }

    private func plannedRows(_ audience: PlannedAudience) async throws(PushError) -> [RegistrationRow] {
        sweep()
        return try await rows(stillAt: table.places(of: audience))
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
            unusual: unusual.isEmpty ? [:] : unusual.filter { place, _ in numbers.contains { members[$0].place == place } })
    }

    /// Appends the members and kinds of another audience.
    fileprivate mutating func append(_ other: PlannedAudience) {
        let offset = kinds.count
        kinds += other.kinds
        members += other.members.map { $0.shifted(by: offset) }
        unusual.merge(other.unusual) { _, new in new }
    }
}
