/// Who shall get a notification. There is no default: everybody is a word, not an absence.
package enum Audience: Sendable, Equatable {
    case expression(TagExpression)
    case everyone
    /// Straight to one handle, without a registration.
    case device(DeviceHandle)
    /// Straight to some handles.
    case devices([DeviceHandle])

    /// Most handles of one send.
    package static let maximumDevices = 1000

    /// The tags that are addressed; nil for everyone and for handles.
    package var expression: TagExpression? {
        if case .expression(let expression) = self { expression } else { nil }
    }

    /// Those that are addressed without a registration.
    package var handles: [DeviceHandle] {
        switch self {
        case .device(let handle): [handle]
        case .devices(let handles): handles
        case .expression, .everyone: []
        }
    }
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
    /// How fast it goes out at most; nil: as fast as the push services take it.
    package var pace: Pace?
    /// The plan whose devices are the only ones that it reaches; nil: whoever is registered when it begins.
    package var plan: PlanBinding?
    /// How many devices it may reach at its moment; nil: any number.
    package var approvedReach: ApprovedReach?

    package init(
        audience: Audience, content: NotificationContent, options: PushOptions = PushOptions(), isTest: Bool = false, pace: Pace? = nil,
        plan: PlanBinding? = nil
    ) {
        self.audience = audience
        self.content = content
        self.options = options
        self.isTest = isTest
        self.pace = pace
        self.plan = plan
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
    /// Azure's outcome counts per platform, of all devices.
    package var counts: [Platform: [OutcomeName: Int]]
    /// The devices one by one, in the order in which they were tried; a list that is kept apart may be left out here.
    package var devices: [DeviceOutcome]
    /// Where nobody matched: what comes close, in words.
    package var nearMisses: [String]
    package var notices: [Notice] = []
    /// Those of its devices that left the hub because their handles are dead, by platform and the push service's reason; `SameHandle` of
    /// those that were skipped.
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

    /// Devices that were removed.
    package var removedCount: Int { pruned.values.reduce(0) { $0 + $1.values.reduce(0, +) } }

    /// Devices that have an outcome.
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

    /// Counts a registration that left.
    mutating func countPruned(_ device: DeviceOutcome) {
        pruned[device.platform, default: [:]][device.reasonOfRemoval, default: 0] += 1
    }

    package mutating func note(_ notices: [Notice]) {
        for notice in notices where !self.notices.contains(notice) { self.notices.append(notice) }
    }
}

extension NotificationOutcome.State {
    /// Nothing more will happen to it.
    package var isFinal: Bool {
        switch self {
        case .enqueued, .scheduled, .processing: false
        case .completed, .noTargetFound, .canceled, .abandoned, .unknown, .detailedStateAvailable: true
        }
    }
}

extension DeviceOutcome {
    /// The push service's word, or for one that was skipped because another with its handle was asked.
    var reasonOfRemoval: String { reason.isEmpty ? "SameHandle" : reason }
}

/// One device's share of a notification.
package struct DeviceOutcome: Sendable, Equatable {
    package var registrationID: RegistrationID?
    /// Of the installation that the registration stood for.
    package var installationID: String?
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

    package init(
        registrationID: RegistrationID?, installationID: String? = nil, platform: Platform, handle: DeviceHandle, templateName: String?,
        outcome: OutcomeName, reason: String, explanation: String, pushID: String?, size: Int, isRegistrationRemoved: Bool
    ) {
        self.registrationID = registrationID
        self.installationID = installationID
        self.platform = platform
        self.handle = handle
        self.templateName = templateName
        self.outcome = outcome
        self.reason = reason
        self.explanation = explanation
        self.pushID = pushID
        self.size = size
        self.isRegistrationRemoved = isRegistrationRemoved
    }
}
