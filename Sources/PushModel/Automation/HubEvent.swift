/// An event of a hub that can start flows. Stored in the same transaction as the change that it reports.
package struct HubEvent: Sendable, Equatable {
    /// Event kinds that flows can subscribe to.
    package enum Kind: String, Sendable, CaseIterable {
        /// A registration or installation was created.
        case registrationCreated = "registration.created"
        /// A registration or installation was updated.
        case registrationUpdated = "registration.updated"
        /// A registration or installation was deleted by a request.
        case registrationDeleted = "registration.deleted"
        /// A notification reached a final state.
        case notificationCompleted = "notification.completed"
        /// A push service reported a device handle as invalid.
        case tokenExpired = "token.expired"
    }

    /// Ascending in the order of storing; 0 if not stored yet.
    package var number: Int64
    package var hub: String
    package var kind: Kind
    package var time: Timestamp
    /// Plugins (by name) and flows (as `flow:NAME`) that caused the event, most recent first.
    package var origin: [String]
    /// Details for the flow. Contains no handles or contents, because the right to read runs does not include them.
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
    package static func registration(
        _ registration: Registration, isNew: Bool, hub: String, at time: Timestamp, origin: [String]
    ) -> HubEvent {
        HubEvent(
            hub: hub, kind: isNew ? .registrationCreated : .registrationUpdated, time: time, origin: origin,
            facts: facts(
                "registration", registration.id.text, registration.platform, userID: nil, tags: registration.tags,
                templates: registration.template == nil ? 0 : 1))
    }

    package static func installation(
        _ installation: Installation, isNew: Bool, hub: String, at time: Timestamp, origin: [String]
    ) -> HubEvent {
        HubEvent(
            hub: hub, kind: isNew ? .registrationCreated : .registrationUpdated, time: time, origin: origin,
            facts: facts(
                "installation", installation.id, installation.handle.platform, userID: installation.userID, tags: installation.tags,
                templates: installation.templates.count))
    }

    package static func deletion(
        _ kind: String, _ id: String, _ platform: Platform, hub: String, at time: Timestamp, origin: [String]
    ) -> HubEvent {
        HubEvent(
            hub: hub, kind: .registrationDeleted, time: time, origin: origin,
            facts: ["kind": .string(kind), "id": .string(id), "platform": .string(platform.shortName)])
    }

    package static func completion(_ outcome: NotificationOutcome, hub: String, at time: Timestamp, origin: [String]) -> HubEvent {
        HubEvent(
            hub: hub, kind: .notificationCompleted, time: time, origin: origin,
            facts: [
                "notification_id": .string(outcome.id), "state": .string(outcome.state.rawValue),
                "to": outcome.tags.map(JSON.string) ?? .null, "sent": .integer(Int64(outcome.sent)),
                "failed": .integer(Int64(outcome.failed)), "total": .integer(Int64(outcome.total)),
            ])
    }

    package static func invalidHandle(of device: PrunedDevice, hub: String, origin: [String]) -> HubEvent {
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
