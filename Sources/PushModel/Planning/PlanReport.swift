/// A dry run of a send: the devices that would receive a notification, and what they would receive.
package struct PlanReport: Sendable, Equatable {
    package struct Count: Sendable, Equatable {
        package var name: String
        package var devices: Int

        package init(name: String, devices: Int) {
            self.name = name
            self.devices = devices
        }
    }

    /// Devices that would receive the same bytes.
    package struct Group: Sendable, Equatable {
        package var platform: Platform
        /// Nil for a native payload, and for an unnamed template.
        package var templateName: String?
        package var isTemplate: Bool
        package var devices: Int
        package var payload: String
        package var headers: [PushHeader]
        /// Size of the payload.
        package var bytes: Int
        /// Maximum payload size of the platform.
        package var limit: Int
        /// Why the push would be rejected for all these devices.
        package var refusal: SendPreview.Group.Refusal?
        /// Properties of the template that the notification lacks and that have no default. They render as empty text.
        package var missing: [String] = []
        /// Whether the payload contains no text that a phone displays by itself.
        package var isTextless = false
        /// Expressions inside text, which phones would display literally, with the suggested correction.
        package var texts: [String] = []

        package init(
            platform: Platform, templateName: String?, isTemplate: Bool, devices: Int, payload: String, headers: [PushHeader],
            bytes: Int, limit: Int
        ) {
            (self.platform, self.templateName, self.isTemplate) = (platform, templateName, isTemplate)
            (self.devices, self.payload, self.headers) = (devices, payload, headers)
            (self.bytes, self.limit) = (bytes, limit)
        }

        package var isTooLarge: Bool { bytes > limit }
    }

    /// Devices with the same platform and template name, or without a template.
    package struct TemplateCount: Sendable, Equatable {
        package var platform: Platform
        package var name: String?
        package var isTemplate: Bool
        package var devices: Int
        /// Sizes of the rendered bodies in bytes; nil without content.
        package var smallest: Int?
        package var largest: Int?
        /// Number of these devices that would receive nothing.
        package var refused: Int

        package init(
            platform: Platform, name: String? = nil, isTemplate: Bool, devices: Int, smallest: Int? = nil, largest: Int? = nil, refused: Int
        ) {
            self.platform = platform
            self.name = name
            self.isTemplate = isTemplate
            self.devices = devices
            self.smallest = smallest
            self.largest = largest
            self.refused = refused
        }
    }

    /// A part of the tag expression that excludes devices.
    package struct FailedTerm: Sendable, Equatable {
        package var term: String
        /// Number of registrations that match the term by itself.
        package var matches: Int
        /// Number of registrations that the enclosing expression would match without the term; nil if there is no enclosing expression.
        package var without: Int?

        package init(term: String, matches: Int, without: Int? = nil) {
            self.term = term
            self.matches = matches
            self.without = without
        }

        /// Explanation for people.
        package var sentence: String {
            let own = "\"\(term)\" has \(matches) registration\(matches == 1 ? "" : "s")"
            guard let without else { return own }
            return "\(own); without it \(without) would match"
        }
    }

    /// Changes since the previous plan for the same audience.
    package struct Difference: Sendable, Equatable {
        package var planID: String
        package var plannedAt: Timestamp
        package var joined: Int
        package var left: Int
        package var changed: Int
        /// The first few devices that joined or left.
        package var firstJoined: [PlannedDevice]
        package var firstLeft: [PlannedDevice]

        package init(
            planID: String, plannedAt: Timestamp, joined: Int, left: Int, changed: Int, firstJoined: [PlannedDevice],
            firstLeft: [PlannedDevice]
        ) {
            self.planID = planID
            self.plannedAt = plannedAt
            self.joined = joined
            self.left = left
            self.changed = changed
            self.firstJoined = firstJoined
            self.firstLeft = firstLeft
        }
    }

    /// The plan id, such as `p-0001`; nil if the plan is not stored.
    package var id: String?
    package var plannedAt: Timestamp
    /// When the plan is deleted; nil if it is not stored.
    package var expiresAt: Timestamp?
    /// Name of the key that requested the plan; nil if unknown.
    package var plannedBy: String?
    package var audience: Audience
    package var content: NotificationContent?
    /// Number of registrations that match the audience, whether or not they can receive the content.
    package var matched = 0
    /// Number of distinct handles that would be sent to; without content, the number of matching registrations.
    package var total = 0
    /// Number of registrations skipped because another one with the same handle receives the same content.
    package var duplicates = 0
    /// Number of devices for which no push service would be called.
    package var refused = 0
    package var platforms: [Platform: Int] = [:]
    /// Most devices first, without the tags that the hub or backend assigns to each user or device.
    package var tags: [Count] = []
    package var furtherTags = 0
    /// Most devices first. Devices without a known locale are not included.
    package var locales: [Count] = []
    package var templates: [TemplateCount] = []
    package var furtherTemplates = 0
    /// Payloads in sending order; empty without content.
    package var groups: [Group] = []
    package var furtherGroups = 0
    /// If few or no devices match: similar tags and other hints, for people.
    package var nearMisses: [String] = []
    package var failedTerms: [FailedTerm] = []
    package var difference: Difference?
    /// Ids of the notifications that sent this plan, oldest first. Not stored with the plan.
    package var sentAs: [String] = []
    /// The first devices of the audience, if requested. Not stored with the plan.
    package var devices: [PlannedDevice] = []

    package init(plannedAt: Timestamp, audience: Audience, content: NotificationContent?) {
        self.plannedAt = plannedAt
        self.audience = audience
        self.content = content
    }

    /// Description of the audience for people.
    package var audienceWords: String {
        switch audience {
        case .everyone: "everyone"
        case .expression(let expression): expression.description
        case .device(let handle): handle.abbreviated
        case .devices(let handles): "\(handles.count) devices"
        }
    }
}

/// One device of a plan.
package struct PlannedDevice: Sendable, Equatable {
    /// Nil for a handle without a registration.
    package var registrationID: RegistrationID?
    package var installationID: String?
    package var user: String?
    package var platform: Platform
    /// Abbreviated handle; nil if the device was removed from the hub.
    package var handle: String?
    package var templateName: String?
    package var isTemplate = false
    /// Size of the rendered payload; nil without content.
    package var bytes: Int?
    /// Whether another registration with the same handle is sent to instead.
    package var isDuplicate = false
    /// Whether no push service would be called for this device.
    package var isRefused = false
    /// Whether the device was removed from the hub since the plan was made.
    package var hasLeft = false

    package init(registrationID: RegistrationID?, platform: Platform) {
        self.registrationID = registrationID
        self.platform = platform
    }
}

/// A page of the devices of a plan, in the hub's order.
package struct PlannedDevicePage: Sendable, Equatable {
    package var devices: [PlannedDevice]
    /// Token for the next page; nil on the last one.
    package var continuation: String?

    package init(devices: [PlannedDevice], continuation: String?) {
        self.devices = devices
        self.continuation = continuation
    }
}
