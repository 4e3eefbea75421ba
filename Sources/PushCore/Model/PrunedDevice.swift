/// A device that left because a push service called its handle dead, kept aside for a while: with all that is needed to bring it back.
package struct PrunedDevice: Sendable, Equatable {
    package enum Subject: Sendable, Equatable {
        /// The registration as it was.
        case registration(Registration)
        /// The installation is there still, without the channel.
        case installation(id: String, userID: String?, tags: [Tag])
    }

    /// Counts up in the store, in the order of leaving; 0 before it is kept.
    package var number: Int64
    /// It left and was brought back since somebody was told: news, and nothing that could be brought back.
    package var isRestored: Bool
    package var subject: Subject
    package var handle: DeviceHandle
    /// The push service's own word.
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

    /// Of the registration or the installation.
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

/// Which of those that left are meant: whoever satisfies all that is given.
package struct PrunedFilter: Sendable, Equatable {
    /// Of a registration or an installation.
    package var id: String?
    package var notificationID: String?
    package var reason: String?
    /// Those that left at that moment or later.
    package var since: Timestamp?

    package init(id: String? = nil, notificationID: String? = nil, reason: String? = nil, since: Timestamp? = nil) {
        (self.id, self.notificationID, self.reason, self.since) = (id, notificationID, reason, since)
    }

    package func matches(_ device: PrunedDevice) -> Bool {
        !device.isRestored && id.map { $0 == device.id } ?? true && notificationID.map { $0 == device.notificationID } ?? true
            && reason.map { $0 == device.reason } ?? true && since.map { $0 <= device.time } ?? true
    }
}
