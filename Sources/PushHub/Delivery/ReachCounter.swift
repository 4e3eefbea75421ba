import PushModel

/// Counts the devices that a send would reach now, by platform.
package protocol ReachMeter: Sendable {
    /// Nil if the devices are at most `number`. The devices of a broadcast channel are unknown, and count as more than any number.
    func reach(of request: NotificationRequest, beyond number: Int) async -> AudienceReach?

    func reach(of request: NotificationRequest) async -> AudienceReach
}

/// Counts the devices that a send would reach now, from the registrations and the stored plans.
///
/// Not thread-safe: it is part of the actor that owns the services.
struct ReachCounter {
    let services: DeliveryServices
    /// The targets that were found for the send before, if any.
    var resolved: ResolvedTargets?

    private var directory: RegistrationDirectory { services.directory }

    /// Counts the devices that a send would reach now, by platform; nil if they are at most `number`. The devices of a broadcast channel
    /// are unknown, and count as more than any number.
    func reach(of request: NotificationRequest, beyond number: Int) async -> AudienceReach? {
        guard !request.isBroadcast else { return await reach(of: request) }
        directory.sweep()
        let most = request.isTest ? NotificationRequest.testSize : Int.max
        // For most sends an upper bound suffices, without looking up devices.
        let bound: Int =
            switch request.audience {
            case .device: 1
            case .devices(let handles): handles.count
            case .everyone: directory.table.index.count
            case .expression(let expression): directory.table.index.upperBound(expression)
            }
        guard min(bound, most) > number else { return nil }
        let reach = await reach(of: request)
        return reach.devices > number ? reach : nil
    }

    /// Counts the devices that a send would reach now, by platform.
    func reach(of request: NotificationRequest) async -> AudienceReach {
        let plan = await services.plannedAudience(of: request, "a send awaiting admission")
        directory.sweep()
        let places = plan.audience.map { PlannedAudienceFinder(table: directory.table).places(of: $0) } ?? (request.plan == nil ? nil : [])
        var reach = AudienceReach(isUnknown: request.isBroadcast)
        for (platform, members) in services.targets(of: request, among: places, reusing: resolved).byPlatform {
            reach.platforms[platform] = members.count
        }
        guard request.isTest, reach.devices > NotificationRequest.testSize else { return reach }
        var room = NotificationRequest.testSize
        for platform in reach.platforms.keys.sorted() {
            let count = min(room, reach.platforms[platform] ?? 0)
            reach.platforms[platform] = count > 0 ? count : nil
            room -= count
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
