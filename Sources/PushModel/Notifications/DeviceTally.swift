/// The devices of a notification, counted by outcome.
package struct DeviceTally: Sendable, Equatable {
    /// Number of devices by platform and outcome, with Azure's outcome names.
    package var counts: [Platform: [OutcomeName: Int]]
    /// Devices removed because their handles are invalid, by platform and the push service's reason; `SameHandle` for devices skipped as
    /// duplicates.
    package var pruned: [Platform: [String: Int]]

    package init(counts: [Platform: [OutcomeName: Int]] = [:], pruned: [Platform: [String: Int]] = [:]) {
        self.counts = counts
        self.pruned = pruned
    }

    package var sent: Int { counts.values.reduce(0) { $0 + $1[.success, default: 0] } }

    package var failed: Int {
        counts.values.reduce(0) { sum, names in
            names.reduce(sum) { $1.key == .success || $1.key == .skipped ? $0 : $0 + $1.value }
        }
    }

    /// Number of devices removed.
    package var removed: Int { pruned.values.reduce(0) { $0 + $1.values.reduce(0, +) } }

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
}
