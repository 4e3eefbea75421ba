/// The result of a notification as a whole and per device.
package struct NotificationOutcome: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case enqueued = "Enqueued"
        case scheduled = "Scheduled"
        case processing = "Processing"
        case completed = "Completed"
        case noTargetFound = "NoTargetFound"
        case canceled = "Canceled"
        case abandoned = "Abandoned"
        case unknown = "Unknown"
        /// A test send that has completed.
        case detailedStateAvailable = "DetailedStateAvailable"
    }

    package var id: String
    package var state: State
    /// The tag expression as sent; nil for a broadcast or a direct send.
    package var tags: String?
    package var times: NotificationTimes
    package var tally: DeviceTally
    /// The results per device, in the order in which they were tried. May be empty if the list is stored separately.
    package var devices: [DeviceOutcome]
    /// Explanations of near misses, if no device matched.
    package var nearMisses: [String]
    package var notices: [Notice] = []

    package init(
        id: String, state: State, tags: String?, times: NotificationTimes, tally: DeviceTally = DeviceTally(),
        devices: [DeviceOutcome] = [], nearMisses: [String] = []
    ) {
        self.id = id
        self.state = state
        self.tags = tags
        self.times = times
        self.tally = tally
        self.devices = devices
        self.nearMisses = nearMisses
    }

    package var enqueuedAt: Timestamp { times.enqueuedAt }
    package var startedAt: Timestamp? { times.startedAt }
    package var endedAt: Timestamp? { times.endedAt }
    package var scheduledFor: Timestamp? { times.scheduledFor }

    package var counts: [Platform: [OutcomeName: Int]] { tally.counts }
    package var pruned: [Platform: [String: Int]] { tally.pruned }
    package var sent: Int { tally.sent }
    package var failed: Int { tally.failed }
    /// Number of devices removed.
    package var removedCount: Int { tally.removed }
    /// Number of devices that have an outcome.
    package var total: Int { tally.total }

    package mutating func note(_ notices: [Notice]) {
        for notice in notices where !self.notices.contains(notice) { self.notices.append(notice) }
    }
}

extension NotificationOutcome.State {
    /// Whether the state never changes again.
    package var isFinal: Bool {
        switch self {
        case .enqueued, .scheduled, .processing: false
        case .completed, .noTargetFound, .canceled, .abandoned, .unknown, .detailedStateAvailable: true
        }
    }
}

/// The times at which a notification was accepted, is due, was started, and ended.
package struct NotificationTimes: Sendable, Equatable {
    package var enqueuedAt: Timestamp
    /// The due time of a scheduled send.
    package var scheduledFor: Timestamp?
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?

    package init(enqueuedAt: Timestamp, scheduledFor: Timestamp? = nil, startedAt: Timestamp? = nil, endedAt: Timestamp? = nil) {
        self.enqueuedAt = enqueuedAt
        self.scheduledFor = scheduledFor
        self.startedAt = startedAt
        self.endedAt = endedAt
    }
}
