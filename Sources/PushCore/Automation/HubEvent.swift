/// Something that happened in a hub and that flows may be started by. It is kept in the same step as what happened: no crash comes between.
package struct HubEvent: Sendable, Equatable {
    /// What a flow can be started by.
    package enum Kind: String, Sendable, CaseIterable {
        /// A registration or an installation came that was not there.
        case registrationCreated = "registration.created"
        /// One that was there was written anew.
        case registrationUpdated = "registration.updated"
        /// Somebody deleted one.
        case registrationDeleted = "registration.deleted"
        /// A notification has ended, whatever became of it.
        case notificationCompleted = "notification.completed"
        /// A push service called the handle of a device dead.
        case tokenExpired = "token.expired"
    }

    /// Counts up in the order in which they were kept; 0 of one that is not kept yet.
    package var number: Int64
    package var hub: String
    package var kind: Kind
    package var time: Timestamp
    /// On whose behalf it was done: plugins by their names, flows as `flow:NAME`, the last one first.
    package var origin: [String]
    /// What a flow is told of it. No handles and no contents: whoever may read runs may not read those.
    package var facts: JSONObject

    package init(number: Int64 = 0, hub: String, kind: Kind, time: Timestamp, origin: [String] = [], facts: JSONObject) {
        self.number = number
        self.hub = hub
        self.kind = kind
        self.time = time
        self.origin = origin
        self.facts = facts
    }
}

extension HubEvent {
    static func registration(
        _ registration: Registration, isNew: Bool, hub: String, at time: Timestamp, origin: [String]
    ) -> HubEvent {
        HubEvent(
            hub: hub, kind: isNew ? .registrationCreated : .registrationUpdated, time: time, origin: origin,
            facts: facts(
                "registration", registration.id.text, registration.platform, userID: nil, tags: registration.tags,
                templates: registration.template == nil ? 0 : 1))
    }

    static func installation(
        _ installation: Installation, isNew: Bool, hub: String, at time: Timestamp, origin: [String]
    ) -> HubEvent {
        HubEvent(
            hub: hub, kind: isNew ? .registrationCreated : .registrationUpdated, time: time, origin: origin,
            facts: facts(
                "installation", installation.id, installation.handle.platform, userID: installation.userID, tags: installation.tags,
                templates: installation.templates.count))
    }

    static func deletion(
        _ kind: String, _ id: String, _ platform: Platform, hub: String, at time: Timestamp, origin: [String]
    ) -> HubEvent {
        HubEvent(
            hub: hub, kind: .registrationDeleted, time: time, origin: origin,
            facts: ["kind": .string(kind), "id": .string(id), "platform": .string(platform.shortName)])
    }

    static func completion(_ outcome: NotificationOutcome, hub: String, at time: Timestamp, origin: [String]) -> HubEvent {
        HubEvent(
            hub: hub, kind: .notificationCompleted, time: time, origin: origin,
            facts: [
                "notification_id": .string(outcome.id), "state": .string(outcome.state.rawValue),
                "to": outcome.tags.map(JSON.string) ?? .null, "sent": .integer(Int64(outcome.sent)),
                "failed": .integer(Int64(outcome.failed)), "total": .integer(Int64(outcome.total)),
            ])
    }

    static func death(of device: PrunedDevice, hub: String, origin: [String]) -> HubEvent {
        let kind = if case .registration = device.subject { "registration" } else { "installation" }
        return HubEvent(
            hub: hub, kind: .tokenExpired, time: device.time, origin: origin,
            facts: [
                "kind": .string(kind), "id": .string(device.id), "platform": .string(device.handle.platform.shortName),
                "user": device.userID.map(JSON.string) ?? .null, "reason": .string(device.reason),
                "notification_id": .string(device.notificationID),
            ])
    }

    private static func facts(
        _ kind: String, _ id: String, _ platform: Platform, userID: String?, tags: [Tag], templates: Int
    ) -> JSONObject {
        [
            "kind": .string(kind), "id": .string(id), "platform": .string(platform.shortName), "user": userID.map(JSON.string) ?? .null,
            "tags": .array(tags.map { .string($0.text) }), "templates": .integer(Int64(templates)),
        ]
    }
}
