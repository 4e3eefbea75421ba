import PushModel

/// The stored plans of a hub and their devices.
struct StoredPlans: Sendable {
    let environment: HubEnvironment
    let store: any HubStore

    func plan(_ id: String) async throws(PushError) -> StoredPlan {
        if let number = PlanID.number(of: id) {
            if let stored = try await store.plan(number) {
                guard stored.report.expiresAt.map({ $0 > environment.clock.now }) ?? true else { throw PushError.planExpired(id) }
                return stored
            }
            if number <= (try await store.lastPlan()) { throw PushError.planExpired(id) }
        }
        throw PushError.noPlan(id, known: try await plans(before: nil, limit: 50).map(\.id))
    }

    /// Lists plans that have not expired, newest first, from below a number or from the newest.
    func plans(before number: Int64?, limit: Int) async throws(PushError) -> [StoredPlan] {
        let now = environment.clock.now
        return try await store.plans(before: number, limit: limit).filter { $0.report.expiresAt.map { $0 > now } ?? true }
    }

    /// All devices of a plan. Throws `plan.expired` if the plan is deleted meanwhile.
    func audience(of stored: StoredPlan) async throws(PushError) -> PlannedAudience {
        var audience = PlannedAudience()
        audience.members.reserveCapacity(stored.members)
        for part in 0..<PlannedAudience.partCount(of: stored.members) {
            guard try await append(part, of: stored, to: &audience) else { throw PushError.planExpired(stored.id) }
        }
        return audience
    }

    /// The registrations among `ids` that belong to a plan, which is read part by part. Throws `plan.expired` if it is deleted meanwhile.
    func members(of stored: StoredPlan, among ids: Set<RegistrationID>) async throws(PushError) -> Set<RegistrationID> {
        var found: Set<RegistrationID> = []
        for part in 0..<PlannedAudience.partCount(of: stored.members) where found.count < ids.count {
            var audience = PlannedAudience()
            guard try await append(part, of: stored, to: &audience) else { throw PushError.planExpired(stored.id) }
            found.formUnion(audience.common(with: ids))
        }
        return found
    }

    /// Returns `false` if the part does not exist.
    func append(_ part: Int, of stored: StoredPlan, to audience: inout PlannedAudience) async throws(PushError) -> Bool {
        guard let bytes = try await store.planPart(stored.number, part: part) else { return false }
        guard audience.append(part: bytes) else {
            throw PushError(
                "storage.corrupt", "the devices of plan \(stored.id) cannot be read", hint: "make a new plan", status: 500)
        }
        return true
    }

    /// The devices of the request's plan; nil without a plan. Retries until the hub stops, because without the plan the audience is
    /// unknown.
    ///
    /// - Returns: `isLost` if the plan can never be read again; then nothing is sent.
    func audience(
        of request: NotificationRequest, _ id: String, _ context: HubContext
    ) async -> (audience: PlannedAudience?, isLost: Bool) {
        guard let binding = request.plan else { return (nil, false) }
        var pause = HubContext.firstPause
        while !context.isStopping {
            do throws(PushError) {
                // An expired plan is still used: the notification was accepted before it expired.
                guard let number = PlanID.number(of: binding.id), let stored = try await store.plan(number) else { return (nil, true) }
                return (try await audience(of: stored), false)
            } catch {
                environment.warn(.delivery, "\(id): the devices of plan \(binding.id) cannot be read: \(error.message)")
                guard error.isRetryable else { return (nil, true) }
                await context.backOff(&pause)
            }
        }
        return (nil, true)
    }

    /// Deletes expired plans, and the oldest ones beyond the limit.
    func removeOld(_ retention: HubSettings.Retention) async throws(PushError) {
        let step = 8
        while !Task.isCancelled,
            try await store.removePlans(
                madeBefore: environment.clock.now + (.zero - retention.plans), beyond: retention.maximumPlans, limit: step) == step
        {}
    }
}
