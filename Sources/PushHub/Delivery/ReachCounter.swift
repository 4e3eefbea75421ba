import PushModel

/// Counts the devices that a send would reach now, from the registrations and the stored plans. Leaves the targets that it finds to the
/// caller, so that they are found once.
///
/// Not thread-safe: it is part of the actor that owns the services.
struct ReachCounter {
    let services: DeliveryServices
    /// The devices of the send's plan, for a caller who has read them: nil without a plan, or if the plan is lost.
    var plan: PlannedAudience??

    private var directory: RegistrationDirectory { services.directory }

    /// Counts the devices that a send would reach now, by platform; nil if they are at most `number`. The devices of a broadcast channel
    /// are unknown, and count as more than any number.
    ///
    /// - Parameter resolved: the targets that were found for the send before, if any. Replaced if they are no longer current.
    func reach(
        of request: NotificationRequest, beyond number: Int, _ resolved: inout ResolvedTargets?
    ) async -> AudienceReach? {
        guard !request.isBroadcast else { return await reach(of: request, &resolved) }
        directory.sweep()
        let most = request.isTest ? NotificationRequest.testSize : Int.max
        // For most sends an upper bound suffices, without looking up devices.
        guard min(directory.table.index.upperBound(request.audience), most) > number else { return nil }
        let reach = await reach(of: request, &resolved)
        return reach.devices > number ? reach : nil
    }

    /// Counts the devices that a send would reach now, by platform.
    ///
    /// - Parameter resolved: as in ``reach(of:beyond:_:)``.
    func reach(of request: NotificationRequest, _ resolved: inout ResolvedTargets?) async -> AudienceReach {
        let plan: PlannedAudience?
        if let known = self.plan {
            plan = known
        } else {
            plan = await services.plannedAudience(of: request, "a send awaiting admission").audience
        }
        directory.sweep()
        var reach = AudienceReach(isUnknown: request.isBroadcast)
        for (platform, members) in services.targets(of: request, in: plan, &resolved).byPlatform {
            reach.platforms[platform] = members.count
        }
        guard request.isTest, reach.devices > NotificationRequest.testSize else { return reach }
        var remaining = NotificationRequest.testSize
        for platform in reach.platforms.keys.sorted() {
            let count = min(remaining, reach.platforms[platform] ?? 0)
            reach.platforms[platform] = count > 0 ? count : nil
            remaining -= count
        }
        return reach
    }
}

extension NotificationRequest {
    /// Whether it is sent to an APNs broadcast channel.
    fileprivate var isBroadcast: Bool {
        guard !audience.handles.isEmpty, case .native(let payloads) = content else { return false }
        return payloads[.apns]?.headers.contains(where: \.isBroadcastChannel) ?? false
    }
}
