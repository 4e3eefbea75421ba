import PushModel

// Sends that are bound to a plan. They reach only devices of the plan that are still registered.
extension NotificationHub {
    /// Sends now to the devices of a plan, and returns when each has a final result. Throws `plan.*`, and what `send` throws.
    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        try await send(try await request(planned))
    }

    /// Like ``accept(_:at:idempotencyKey:)``, for the devices of a plan. Also throws `plan.*`.
    package nonisolated func accept(
        _ planned: PlannedSend, at moment: Timestamp? = nil, idempotencyKey: String? = nil
    ) async throws(PushError) -> AcceptedNotification {
        try await accept(try await request(planned), at: moment, idempotencyKey: idempotencyKey)
    }

    /// Resolves a planned send to a request. Throws `plan.not_found` (404), `plan.expired` (410), `plan.content` (409).
    package nonisolated func request(_ planned: PlannedSend) async throws(PushError) -> NotificationRequest {
        let kept = try await storedPlan(planned.binding.id)
        if let content = planned.content, let its = kept.report.content, content != its { throw PushError.planContent(kept.id) }
        guard let content = planned.content ?? kept.report.content else { throw PushError.planWithoutContent(kept.id) }
        return NotificationRequest(
            audience: kept.report.audience, content: content, options: planned.options, pace: planned.pace, plan: planned.binding)
    }

    /// Throws `plan.drifted` (409) if the audience has changed by more than the tolerance since the request's plan was made. Does nothing
    /// for a request without a plan.
    ///
    /// Devices that register later get nothing in any case: only the plan's devices are sent to.
    nonisolated func checkDrift(_ request: NotificationRequest) async throws(PushError) {
        guard let binding = request.plan else { return }
        let kept = try await storedPlan(binding.id)
        let planned = try await audience(of: kept)
        let now = try await survey(PlanRequest(audience: kept.report.audience, content: kept.report.content, isKept: false)).sorted()
            .audience
        let drift = planned.difference(to: now)
        guard drift.count > binding.tolerance.most(of: planned.count) else { return }
        throw PushError.drifted(
            kept, binding.tolerance, joined: drift.joined.count, left: drift.left.count, changed: drift.changed.count,
            firstJoined: try await shown(now.part(drift.joined.prefix(Self.devicesListed))),
            firstLeft: try await shown(planned.part(drift.left.prefix(Self.devicesListed))),
            firstChanged: try await shown(now.part(drift.changed.prefix(Self.devicesListed))), now: environment.clock.now)
    }

    /// The devices of the request's plan; nil without a plan. Retries until the hub stops, because without the plan the audience is
    /// unknown.
    ///
    /// - Returns: `isLost` if the plan can never be read again; then nothing is sent.
    func plannedAudience(of request: NotificationRequest, _ id: String) async -> (audience: PlannedAudience?, isLost: Bool) {
        guard let binding = request.plan else { return (nil, false) }
        var pause = Self.firstPause
        while !isStopping {
            do throws(PushError) {
                // An expired plan is still used: the notification was accepted before it expired.
                guard let number = PlanID.number(of: binding.id), let kept = try await store.plan(number) else { return (nil, true) }
                return (try await audience(of: kept), false)
            } catch {
                environment.warn(.delivery, "\(id): the devices of plan \(binding.id) cannot be read: \(error.message)")
                guard error.isRetryable else { return (nil, true) }
                await rest(&pause)
            }
        }
        return (nil, true)
    }
}

extension PushError {
    /// The ids of up to three devices, in parentheses.
    private static func names(_ devices: [PlannedDevice]) -> String {
        let names = devices.prefix(3).compactMap { $0.installationID ?? $0.registrationID?.text }
        return names.isEmpty ? "" : " (\(names.joined(separator: ", "))\(devices.count > names.count ? ", …" : ""))"
    }

    fileprivate static func drifted(
        _ kept: StoredPlan, _ tolerance: DriftTolerance, joined: Int, left: Int, changed: Int, firstJoined: [PlannedDevice],
        firstLeft: [PlannedDevice], firstChanged: [PlannedDevice], now: Timestamp
    ) -> PushError {
        let most = tolerance.most(of: kept.members)
        let all = joined + left + changed
        let changes = changed == 0 ? "" : ", \(changed) would get something else\(names(firstChanged))"
        return PushError(
            "plan.drifted",
            "the audience of plan \(kept.id) has drifted since \(kept.report.plannedAt.iso8601(fraction: false)): \(joined) joined\(names(firstJoined)), "
                + "\(left) left\(names(firstLeft))\(changes); at most \(most) of its \(kept.members) devices may differ; not sent",
            hint:
                "make a new plan and check it; or send with a tolerance of \(all), which reaches only devices of the plan that are still "
                + "registered", status: 409,
            details: [
                "plan": .string(kept.id), "joined": .integer(Int64(joined)), "left": .integer(Int64(left)),
                "changed": .integer(Int64(changed)), "tolerated": .integer(Int64(most)), "planned": .integer(Int64(kept.members)),
                "firstJoined": .array(firstJoined.map(\.document)), "firstLeft": .array(firstLeft.map(\.document)),
                "firstChanged": .array(firstChanged.map(\.document)),
            ])
    }
}
