import PushModel

/// A check of a send before a hub accepts it, and again if a hook has changed the send.
///
/// Throws `approval.required` (403) if the send needs approval.
package struct SendAdmission: Sendable {
    package enum Answer: Sendable, Equatable {
        /// Admitted; the value limits its reach at the due time, nil for no limit.
        case admitted(ApprovedReach?)
        /// The same send was approved earlier, and sent as this notification.
        case sent(String)
    }

    /// Gets the send, the sender's original request (equal unless a hook has changed it), and the hub.
    package typealias Ask = @Sendable (SendDraft, _ asked: SendDraft, NotificationHub) async throws(PushError) -> Answer

    private let ask: Ask

    package init(_ ask: @escaping Ask) { self.ask = ask }

    func answer(_ draft: SendDraft, asked: SendDraft, _ hub: NotificationHub) async throws(PushError) -> Answer {
        try await ask(draft, asked, hub)
    }
}

extension NotificationHub {
    /// Counts the devices that a send would reach now, by platform; nil if they are at most `number`. The devices of a broadcast channel
    /// are unknown, and count as more than any number.
    package func reach(of request: NotificationRequest, beyond number: Int) async -> AudienceReach? {
        guard !request.isBroadcast else { return await reach(of: request) }
        sweep()
        let most = request.isTest ? NotificationRequest.testSize : Int.max
        // For most sends an upper bound suffices, without looking up devices.
        let bound: Int =
            switch request.audience {
            case .device: 1
            case .devices(let handles): handles.count
            case .everyone: table.index.count
            case .expression(let expression): table.index.upperBound(expression)
            }
        guard min(bound, most) > number else { return nil }
        let reach = await reach(of: request)
        return reach.devices > number ? reach : nil
    }

    /// Counts the devices that a send would reach now, by platform.
    package func reach(of request: NotificationRequest) async -> AudienceReach {
        let plan = await plannedAudience(of: request, "a send awaiting admission")
        sweep()
        let places = plan.audience.map { table.places(of: $0) } ?? (request.plan == nil ? nil : [])
        var reach = AudienceReach(isUnknown: request.isBroadcast)
        for (platform, members) in pipeline.targets(of: request, in: table, among: places).byPlatform {
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
