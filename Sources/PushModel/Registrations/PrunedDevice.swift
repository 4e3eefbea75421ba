/// A device removed because a push service reported its handle as invalid. Stored for a while with everything needed to restore it.
package struct PrunedDevice: Sendable, Equatable {
    package enum Subject: Sendable, Equatable {
        /// The registration at its removal.
        case registration(Registration)
        /// The installation still exists, without the channel.
        case installation(id: String, userID: String?, tags: [Tag])
    }

    /// Counts up in the store, in the order of removal; 0 until stored.
    package var number: Int64
    /// Removed and restored since the last report. Such an entry exists only to be reported; it cannot be restored again.
    package var isRestored: Bool
    package var subject: Subject
    package var handle: DeviceHandle
    /// The push service's reason.
    package var reason: String
    package var notificationID: String
    package var time: Timestamp

    package init(
        number: Int64 = 0, isRestored: Bool = false, _ subject: Subject, handle: DeviceHandle, reason: String, notificationID: String,
        time: Timestamp
    ) {
        self.number = number
        self.isRestored = isRestored
        self.subject = subject
        self.handle = handle
        self.reason = reason
        self.notificationID = notificationID
        self.time = time
    }

    /// The id of the registration or installation.
    package var id: String {
        switch subject {
        case .registration(let registration): registration.id.text
        case .installation(let id, _, _): id
        }
    }

    package var tags: [Tag] {
        switch subject {
        case .registration(let registration): registration.tags
        case .installation(_, _, let tags): tags
        }
    }

    package var userID: String? { if case .installation(_, let user, _) = subject { user } else { nil } }
}

/// Selects pruned devices; a device must match every property that is set.
package struct PrunedFilter: Sendable, Equatable {
    /// The id of a registration or installation.
    package var id: String?
    package var notificationID: String?
    package var reason: String?
    /// The earliest time of removal.
    package var since: Timestamp?

    package init(id: String? = nil, notificationID: String? = nil, reason: String? = nil, since: Timestamp? = nil) {
        (self.id, self.notificationID, self.reason, self.since) = (id, notificationID, reason, since)
    }

    package func matches(_ device: PrunedDevice) -> Bool {
        !device.isRestored && id.map { $0 == device.id } ?? true && notificationID.map { $0 == device.notificationID } ?? true
            && reason.map { $0 == device.reason } ?? true && since.map { $0 <= device.time } ?? true
    }
}
