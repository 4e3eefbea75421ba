/// Asked before a hub takes a send, with what would be sent, when, and by which hub; and again where a hook has changed that.
///
/// Throws `approval.required` (403) where it waits for somebody's leave.
package struct SendAdmission: Sendable {
    package enum Answer: Sendable, Equatable {
        /// How many devices it may reach when its moment comes; nil for any number.
        case admitted(ApprovedReach?)
        /// It was allowed before, and sent as this notification.
        case sent(String)
    }

    /// What would be sent, and what its sender has asked for: the same until a hook has changed it.
    package typealias Ask = @Sendable (SendDraft, _ asked: SendDraft, NotificationHub) async throws(PushError) -> Answer

    private let ask: Ask

    package init(_ ask: @escaping Ask) { self.ask = ask }

    func answer(_ draft: SendDraft, asked: SendDraft, _ hub: NotificationHub) async throws(PushError) -> Answer {
        try await ask(draft, asked, hub)
    }
}

extension NotificationHub {
    /// How many devices a send would reach at this moment, by platform; nil where these are no more than a number. What nobody can count
    /// is more than any.
    package func reach(of request: NotificationRequest, beyond number: Int) async -> AudienceReach? {
        guard !request.isBroadcast else { return await reach(of: request) }
        sweep()
        let most = request.isTest ? Self.testSize : Int.max
        // Of most sends it is known without looking for their devices.
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

    /// The same, however many there are.
    package func reach(of request: NotificationRequest) async -> AudienceReach {
        let plan = await plannedAudience(of: request, "a send that is measured")
        sweep()
        let places = plan.audience.map { table.places(of: $0) } ?? (request.plan == nil ? nil : [])
        var reach = AudienceReach(isUnknown: request.isBroadcast)
        for (platform, members) in pipeline.targets(of: request, in: table, among: places).byPlatform {
            reach.platforms[platform] = members.count
        }
        guard request.isTest, reach.devices > Self.testSize else { return reach }
        var room = Self.testSize
        for platform in reach.platforms.keys.sorted() {
            let count = min(room, reach.platforms[platform] ?? 0)
            reach.platforms[platform] = count > 0 ? count : nil
            room -= count
        }
        return reach
    }
}

extension NotificationRequest {
    /// Goes to a broadcast channel of APNs.
    fileprivate var isBroadcast: Bool {
        guard !audience.handles.isEmpty, case .native(let payloads) = content else { return false }
        return payloads[.apns]?.headers.contains(where: \.isBroadcastChannel) ?? false
    }
}
