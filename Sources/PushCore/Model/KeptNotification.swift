/// A notification as it is kept: what was asked, and how far it is.
package struct KeptNotification: Sendable, Equatable {
    /// Counts up in the hub, from 1, in the order of acceptance.
    package var sequence: Int64
    package var request: NotificationRequest
    package var idempotency: IdempotencyKey?
    /// Without its devices.
    package var outcome: NotificationOutcome
    /// The plugins on whose behalf it was sent, the last one first; hooks of theirs are not asked about it, and not told of it.
    package var origin: [String]
    /// Those of its devices that wait for their moment.
    package var holds: Holds

    package init(
        sequence: Int64, request: NotificationRequest, idempotency: IdempotencyKey? = nil, outcome: NotificationOutcome,
        origin: [String] = [], holds: Holds = Holds()
    ) {
        self.sequence = sequence
        self.request = request
        self.idempotency = idempotency
        self.outcome = outcome
        self.origin = origin
        self.holds = holds
    }
}

/// A sender's own name for a send: the same key and the same request are the same send, however often it is asked for.
package struct IdempotencyKey: Sendable, Hashable {
    /// 1 to 255 visible ASCII characters, unique in its hub for as long as the notification is kept.
    package var key: String
    /// SHA-256 of what was asked.
    package var fingerprint: [UInt8]

    package init(key: String, fingerprint: [UInt8]) {
        self.key = key
        self.fingerprint = fingerprint
    }
}

/// What a store made of a notification that was to be kept.
package enum Acceptance: Sendable, Equatable {
    case accepted
    /// The same key and request came before: nothing was kept, this is the first one's result.
    case repeated(KeptNotification)
    /// The key belongs to another request, of the notification with this id.
    case keyInUse(id: String)

    /// - Parameter first: the notification that has the key.
    package init(_ key: IdempotencyKey, of first: KeptNotification) {
        self = first.idempotency == key ? .repeated(first) : .keyInUse(id: first.outcome.id)
    }
}

/// News of a notification that is under way.
package struct NotificationProgress: Sendable, Equatable {
    package var sequence: Int64
    /// As it is now, with counts of all devices so far and without the devices themselves.
    package var outcome: NotificationOutcome
    /// The devices since the last news, in order.
    package var devices: OutcomeBatch
    /// Registrations, by place, whose last outcome is now another than before.
    package var lastOutcomes: [UInt32: OutcomeName]
    /// Devices that wait for their moment; nil where they are the same as before. A notification that has ended has none.
    package var holds: Holds?
    /// What flows are to hear of it.
    package var events: [HubEvent] = []

    package init(
        sequence: Int64, outcome: NotificationOutcome, devices: OutcomeBatch, lastOutcomes: [UInt32: OutcomeName] = [:], holds: Holds? = nil
    ) {
        self.sequence = sequence
        self.outcome = outcome
        self.devices = devices
        self.lastOutcomes = lastOutcomes
        self.holds = holds
    }

    package init(
        sequence: Int64, outcome: NotificationOutcome, devices: [DeviceOutcome], lastOutcomes: [UInt32: OutcomeName] = [:],
        holds: Holds? = nil
    ) {
        self.init(sequence: sequence, outcome: outcome, devices: OutcomeBatch(devices), lastOutcomes: lastOutcomes, holds: holds)
    }
}
