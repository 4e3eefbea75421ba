/// Who shall get a notification. There is no default: everybody is a word, not an absence.
package enum Audience: Sendable, Equatable {
    case expression(TagExpression)
    case everyone
    /// Straight to one handle, without a registration.
    case device(DeviceHandle)
}

/// What is sent.
package enum NotificationContent: Sendable, Equatable {
    /// Fills the templates of template registrations, on every platform.
    case template([String: String])
    /// A body per platform, for native registrations.
    case native([Platform: NativePayload])
}

package struct NativePayload: Sendable, Equatable {
    package var body: [UInt8]
    package var headers: [PushHeader]

    package init(body: [UInt8], headers: [PushHeader] = []) {
        self.body = body
        self.headers = headers
    }
}

package struct NotificationRequest: Sendable, Equatable {
    package var audience: Audience
    package var content: NotificationContent
    package var options: PushOptions
    /// A test send: reaches at most ten devices, chosen at random where more match (Azure's "Send a test notification").
    package var isTest: Bool

    package init(
        audience: Audience, content: NotificationContent, options: PushOptions = PushOptions(), isTest: Bool = false
    ) {
        self.audience = audience
        self.content = content
        self.options = options
        self.isTest = isTest
    }
}

/// How a notification ended: one answer for the whole and one per device.
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
        /// A test send that has run.
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
    package var devices: [DeviceOutcome]
    /// Where nobody matched: what comes close, in words.
    package var nearMisses: [String]

    package var sent: Int { devices.count { $0.outcome == .success } }
    package var failed: Int { devices.count { $0.outcome != .success && $0.outcome != .skipped } }

    /// Azure's outcome counts per platform.
    package var counts: [Platform: [OutcomeName: Int]] {
        devices.reduce(into: [:]) { counts, device in
            counts[device.platform, default: [:]][device.outcome, default: 0] += 1
        }
    }
}

/// One device's share of a notification.
package struct DeviceOutcome: Sendable, Equatable {
    package var registrationID: RegistrationID?
    package var platform: Platform
    package var handle: DeviceHandle
    package var templateName: String?
    package var outcome: OutcomeName
    /// The push service's own reason, empty on success.
    package var reason: String
    /// In words: what it means and what to do.
    package var explanation: String
    /// The push service's id of the push.
    package var pushID: String?
    /// Size of the rendered body in bytes.
    package var size: Int
    /// The registration was removed, because the push service says that the handle is dead.
    package var isRegistrationRemoved: Bool
}
