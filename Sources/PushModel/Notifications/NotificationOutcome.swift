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
    package var enqueuedAt: Timestamp
    package var startedAt: Timestamp?
    package var endedAt: Timestamp?
    package var scheduledFor: Timestamp?
    /// Number of devices by platform and outcome, with Azure's outcome names.
    package var counts: [Platform: [OutcomeName: Int]]
    /// The results per device, in the order in which they were tried. May be empty if the list is stored separately.
    package var devices: [DeviceOutcome]
    /// Explanations of near misses, if no device matched.
    package var nearMisses: [String]
    package var notices: [Notice] = []
    /// Devices removed because their handles are invalid, by platform and the push service's reason; `SameHandle` for devices skipped as
    /// duplicates.
    package var pruned: [Platform: [String: Int]] = [:]

    package init(
        id: String, state: State, tags: String?, enqueuedAt: Timestamp, startedAt: Timestamp? = nil,
        endedAt: Timestamp? = nil, scheduledFor: Timestamp? = nil, counts: [Platform: [OutcomeName: Int]] = [:],
        devices: [DeviceOutcome] = [], nearMisses: [String] = []
    ) {
        self.id = id
        self.state = state
        self.tags = tags
        self.enqueuedAt = enqueuedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.scheduledFor = scheduledFor
        self.counts = counts
        self.devices = devices
        self.nearMisses = nearMisses
    }

    package var sent: Int { counts.values.reduce(0) { $0 + $1[.success, default: 0] } }
    package var failed: Int {
        counts.values.reduce(0) { sum, names in
            names.reduce(sum) { $1.key == .success || $1.key == .skipped ? $0 : $0 + $1.value }
        }
    }

    /// Number of devices removed.
    package var removedCount: Int { pruned.values.reduce(0) { $0 + $1.values.reduce(0, +) } }

    /// Number of devices that have an outcome.
    package var total: Int { counts.values.reduce(0) { $0 + $1.values.reduce(0, +) } }

    /// Adds devices to the counts.
    package mutating func count(_ devices: some Sequence<DeviceOutcome>) {
        for device in devices {
            count(1, device.platform, device.outcome)
            if device.isRegistrationRemoved { countPruned(device) }
        }
    }

    package mutating func count(_ devices: Int, _ platform: Platform, _ outcome: OutcomeName) {
        counts[platform, default: [:]][outcome, default: 0] += devices
    }

    /// Counts a removed device.
    package mutating func countPruned(_ device: DeviceOutcome) {
        pruned[device.platform, default: [:]][device.removalReason, default: 0] += 1
    }

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
