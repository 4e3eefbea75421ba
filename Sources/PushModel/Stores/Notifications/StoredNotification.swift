/// A notification as stored: the request and its progress.
package struct StoredNotification: Sendable, Equatable {
    /// Starts at 1 and counts up in the hub, in the order of acceptance.
    package var sequence: Int64
    package var request: NotificationRequest
    package var idempotency: IdempotencyKey?
    /// The result so far, without the devices.
    package var outcome: NotificationOutcome
    /// The plugins on whose behalf it was sent, the most recent first. Their own hooks are skipped for it.
    package var origin: [String]
    /// Devices that hooks deferred to a later time.
    package var deferredDevices: DeferredDevices

    package init(
        sequence: Int64, request: NotificationRequest, idempotency: IdempotencyKey? = nil, outcome: NotificationOutcome,
        origin: [String] = [], deferredDevices: DeferredDevices = DeferredDevices()
    ) {
        self.sequence = sequence
        self.request = request
        self.idempotency = idempotency
        self.outcome = outcome
        self.origin = origin
        self.deferredDevices = deferredDevices
    }
}

/// A name that the sender chooses for a send. Repeating the request with the same key does not send it again.
package struct IdempotencyKey: Sendable, Hashable {
    /// 1 to 255 visible ASCII characters, unique in its hub for as long as the notification is stored.
    package var key: String
    /// SHA-256 of the request.
    package var fingerprint: [UInt8]

    package init(key: String, fingerprint: [UInt8]) {
        self.key = key
        self.fingerprint = fingerprint
    }
}

/// The result of storing a notification.
package enum AcceptanceResult: Sendable, Equatable {
    case accepted
    /// The same key and request came before: nothing was stored. Holds the first notification.
    case repeated(StoredNotification)
    /// The key belongs to a different request, that of the notification with this id.
    case keyInUse(id: String)

    /// - Parameter first: the notification that has the key.
    package init(_ key: IdempotencyKey, of first: StoredNotification) {
        self = first.idempotency == key ? .repeated(first) : .keyInUse(id: first.outcome.id)
    }
}

/// An update of a notification that is being delivered.
package struct NotificationProgress: Sendable, Equatable {
    package var sequence: Int64
    /// The current state, with counts of all devices so far and without the devices themselves.
    package var outcome: NotificationOutcome
    /// The devices since the previous update, in order.
    package var devices: OutcomeBatch
    /// New last outcomes of registrations, by row; only those that changed.
    package var lastOutcomes: [UInt32: OutcomeName]
    /// Deferred devices; nil if unchanged. A notification that has ended has none.
    package var deferredDevices: DeferredDevices?
    /// Events to report to flows.
    package var events: [HubEvent] = []

    package init(
        sequence: Int64, outcome: NotificationOutcome, devices: OutcomeBatch, lastOutcomes: [UInt32: OutcomeName] = [:],
        deferredDevices: DeferredDevices? = nil
    ) {
        self.sequence = sequence
        self.outcome = outcome
        self.devices = devices
        self.lastOutcomes = lastOutcomes
        self.deferredDevices = deferredDevices
    }

    package init(
        sequence: Int64, outcome: NotificationOutcome, devices: [DeviceOutcome], lastOutcomes: [UInt32: OutcomeName] = [:],
        deferredDevices: DeferredDevices? = nil
    ) {
        self.init(
            sequence: sequence, outcome: outcome, devices: OutcomeBatch(devices), lastOutcomes: lastOutcomes,
            deferredDevices: deferredDevices)
    }
}
