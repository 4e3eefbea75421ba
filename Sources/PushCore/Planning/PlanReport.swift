/// Who would get a notification, and what: nothing was sent and nothing has changed.
package struct PlanReport: Sendable, Equatable {
    package struct Count: Sendable, Equatable {
        package var name: String
        package var devices: Int

        package init(name: String, devices: Int) {
            self.name = name
            self.devices = devices
        }
    }

    /// Devices that would get the same bytes.
    package struct Group: Sendable, Equatable {
        package var platform: Platform
        /// Nil for a native payload, and for a template without a name.
        package var templateName: String?
        package var isTemplate: Bool
        package var devices: Int
        package var payload: String
        package var headers: [PushHeader]
        /// Of the payload.
        package var bytes: Int
        /// The most that the platform takes.
        package var limit: Int
        /// Why these devices would get nothing at all.
        package var refusal: SendPreview.Group.Refusal?
        /// Properties that the template shows, that nobody gives and that have no default: an empty text stands there.
        package var missing: [String] = []
        /// There is no text that a phone would show by itself.
        package var isTextless = false
        /// Expressions inside text, which phones would show as they are written, with what to write instead.
        package var texts: [String] = []

        package var isTooLarge: Bool { bytes > limit }
    }

    /// Devices of one platform with templates of one name, or with none.
    package struct TemplateCount: Sendable, Equatable {
        package var platform: Platform
        package var name: String?
        package var isTemplate: Bool
        package var devices: Int
        /// Of the rendered bodies; nil without a content.
        package var smallest: Int?
        package var largest: Int?
        /// Of these devices, those that would get nothing.
        package var refused: Int
    }

    /// A part of the expression that keeps devices out.
    package struct FailedTerm: Sendable, Equatable {
        package var term: String
        /// Registrations that satisfy it, whatever else is asked for.
        package var matches: Int
        /// Registrations that the expression around it would name without it; nil where there is nothing around it.
        package var without: Int?

        package init(term: String, matches: Int, without: Int? = nil) {
            self.term = term
            self.matches = matches
            self.without = without
        }
    }

    /// Since the plan of the same audience before.
    package struct Difference: Sendable, Equatable {
        package var planID: String
        package var plannedAt: Timestamp
        package var joined: Int
        package var left: Int
        package var changed: Int
        /// The first few of each.
        package var firstJoined: [PlannedDevice]
        package var firstLeft: [PlannedDevice]
    }

    /// `p-0001`; nil of a plan that is not kept.
    package var id: String?
    package var plannedAt: Timestamp
    /// When it is forgotten; nil of one that is not kept.
    package var expiresAt: Timestamp?
    /// The name of the key with which it was asked for; nil where nobody is known.
    package var plannedBy: String?
    package var audience: Audience
    package var content: NotificationContent?
    /// Registrations that the audience names, whatever they can receive.
    package var matched = 0
    /// Devices that would be sent to, each handle once; without a content all registrations that the audience names.
    package var total = 0
    /// Registrations with a handle that gets the same already: they are skipped.
    package var duplicates = 0
    /// Of the devices, those whose push service would not be asked.
    package var refused = 0
    package var platforms: [Platform: Int] = [:]
    /// Most devices first; those that the hub or the backend gives each user or device are left out.
    package var tags: [Count] = []
    package var furtherTags = 0
    /// Most devices first; devices of which no locale is known are in none.
    package var locales: [Count] = []
    package var templates: [TemplateCount] = []
    package var furtherTemplates = 0
    /// In the order in which they would be sent; none without a content.
    package var groups: [Group] = []
    package var furtherGroups = 0
    /// Where nobody or few would get anything: what comes close, in words.
    package var nearMisses: [String] = []
    package var failedTerms: [FailedTerm] = []
    package var difference: Difference?
    /// As which notifications it was sent, the first ones first; not kept with the plan.
    package var sentAs: [String] = []
    /// The first of them one by one, where they were asked for; they are not kept with the plan.
    package var devices: [PlannedDevice] = []

    package init(plannedAt: Timestamp, audience: Audience, content: NotificationContent?) {
        self.plannedAt = plannedAt
        self.audience = audience
        self.content = content
    }

    /// The audience as people write it.
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
    /// Enough of it to recognise the device; nil for one that has left.
    package var handle: String?
    package var templateName: String?
    package var isTemplate = false
    /// Of what it would get; nil without a content.
    package var bytes: Int?
    /// Another registration with its handle stands for it.
    package var isDuplicate = false
    /// No push service would be asked for it.
    package var isRefused = false
    /// It has left the hub since the plan was made.
    package var hasLeft = false

    package init(registrationID: RegistrationID?, platform: Platform) {
        self.registrationID = registrationID
        self.platform = platform
    }
}

/// A page of the devices of a plan, in the order of the hub.
package struct PlannedDevicePage: Sendable, Equatable {
    package var devices: [PlannedDevice]
    /// Present when there is more.
    package var continuation: String?

    package init(devices: [PlannedDevice], continuation: String?) {
        self.devices = devices
        self.continuation = continuation
    }
}

/// A plan as it is kept, without its devices.
package struct KeptPlan: Sendable, Equatable {
    /// Counts up in the hub, from 1.
    package var number: Int64
    /// What it is compared by with others, as in ``PlanRequest``.
    package var subject: String
    /// How many registrations belong to it.
    package var members: Int
    package var report: PlanReport

    package init(number: Int64, subject: String, members: Int, report: PlanReport) {
        self.number = number
        self.subject = subject
        self.members = members
        self.report = report
    }

    package var id: String { PlanID.text(number) }
}
