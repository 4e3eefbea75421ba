import PushModel

/// A device to trace: its current and deleted registrations, and its names.
struct TracedDevice: Sendable {
    var name: String
    var platform: Platform?
    var installation: Installation?
    /// Id of the installation, which may have been deleted.
    var installationID: String?
    /// Current registrations.
    var registrations: [RegistrationRow] = []
    /// Deleted registrations, latest first.
    var deleted: [DeletedRegistration] = []
    /// Registrations removed because their handle was invalid, latest first.
    var pruned: [PrunedDevice] = []
    /// All known handles of the device.
    var handles: [DeviceHandle] = []
    /// Name of the simulated phone, if it is one.
    var phone: String?
    /// The registration id in the question, if it named a registration instead of a device.
    var requestedID: RegistrationID?

    var query: DeviceOutcomeQuery {
        DeviceOutcomeQuery(
            registrations: Set(registrations.map(\.registration.id) + deleted.map(\.id) + pruned.compactMap { RegistrationID($0.id) }),
            installation: installationID, handles: Set(handles))
    }

    /// Whether the hub knows nothing about the device.
    var isUnknownToHub: Bool { registrations.isEmpty && deleted.isEmpty && pruned.isEmpty && installation == nil }
}

/// Everything that is known about a notification and a device: the input of a trace.
struct TraceFacts: Sendable {
    /// A registration, and whether the notification matches it.
    struct Candidate: Sendable {
        enum Fit: Sendable, Equatable {
            case fits
            case needsTemplate
            case needsNative
            case wrongPlatform
        }

        var registration: Registration
        /// Why its current tags do not match; nil if they do.
        var failure: TagFailure?
        var fit: Fit
        /// Properties of its template that the notification lacks and that have no default.
        var missing: [String]
        /// Whether the rendered payload contains no visible text.
        var isTextless: Bool
        /// Size of the rendered payload and the push service's limit, in bytes.
        var size: Int
        var limit: Int
    }

    struct Hold: Sendable {
        var until: Timestamp
        var reason: HookReason
    }

    /// The plan that the notification is bound to.
    enum Plan: Sendable {
        case forgotten
        /// - Parameter members: registrations of the device that belong to the plan.
        case stored(madeAt: Timestamp, members: Set<RegistrationID>)
    }

    var now: Timestamp
    var stored: StoredNotification
    var device: TracedDevice
    /// Results of the device, in the order in which they were recorded.
    var rows: [RecordedOutcome]
    var candidates: [Candidate]
    /// Number of registrations that match the audience now.
    var matched: Int
    /// Nil for a notification without a plan, and if there are results.
    var plan: Plan?
    var hold: Hold?
    /// Estimated time at which a paced send reaches the device.
    var estimatedTime: Timestamp?
    var issues: [DeliveryIssue]
    var result: DeviceResult?
    /// Id of the notification whose push replaced this one.
    var replacement: String?

    /// When sending began or, if it did not, when it was scheduled for or accepted.
    var sentAt: Timestamp { stored.outcome.startedAt ?? stored.outcome.scheduledFor ?? stored.outcome.enqueuedAt }
}

extension TraceFacts.Candidate {
    init(_ registration: Registration, of request: NotificationRequest) {
        self.registration = registration
        failure = request.audience.expression?.failure(for: Set(registration.tags))
        (missing, isTextless, size) = ([], false, 0)
        limit = registration.platform.payloadLimit
        switch (request.content, registration.template) {
        case (.template, nil): fit = .needsTemplate
        case (.native, .some): fit = .needsNative
        case (.native(let payloads), nil):
            guard let payload = payloads[registration.platform] else {
                fit = .wrongPlatform
                return
            }
            fit = .fits
            size = payload.body.count
            isTextless = VisibleText(payload.body, on: registration.platform).isMissing
            limit = PayloadRules.limit(for: registration.platform, headers: payload.headers)
        case (.template(let properties), let template?):
            fit = .fits
            let values = TemplateProperties(properties, fallback: registration.pushVariables)
            missing = template.compiled.missing(in: values)
            let body = template.compiled.render(values)
            size = body.count
            isTextless = VisibleText(body, on: registration.platform).isMissing
            limit = PayloadRules.limit(for: registration.platform, headers: template.headers(values).headers)
        }
    }
}

extension Template {
    /// Properties that have neither a value nor a default, in the order of the body.
    func missing(in properties: TemplateProperties) -> [String] {
        var names: [String] = []
        for case .slot(let expression, _) in parts {
            for case .property(let property) in expression.terms
            where property.fallback == nil && properties.value(of: property.name) == nil {
                names.append(property.name)
            }
        }
        return names.uniqued()
    }
}

/// Tells whether a payload contains text that a phone displays by itself.
struct VisibleText {
    let isMissing: Bool

    init(_ body: [UInt8], on platform: Platform) {
        switch platform {
        case .apns: isMissing = Self.json(body).map { !Self.hasAlert($0) } ?? false
        case .fcmV1, .gcm: isMissing = Self.json(body).map { !Self.hasNotification($0) } ?? false
        case .browser:
            isMissing =
                Self.json(body).map { json in
                    !Self.hasText(json["notification"] ?? json, ["title", "body", "alert", "message"])
                } ?? body.isEmpty
        case .wns:
            // The text between elements, which includes all texts of a toast.
            let text = String(decoding: body, as: UTF8.self)
            isMissing = text.hasPrefix("<") && !Self.textBetweenElements(text).contains { !$0.isWhitespace }
        case .mpns, .adm, .baidu, .xiaomi: isMissing = false
        }
    }

    private static func json(_ body: [UInt8]) -> JSON? { try? JSON(parsing: body) }

    private static func hasText(_ json: JSON?, _ names: [String]) -> Bool {
        names.contains { json?[$0]?.string?.isEmpty == false }
    }

    /// Background pushes and badge updates count as complete without text.
    private static func hasAlert(_ json: JSON) -> Bool {
        let aps = json["aps"]
        guard let alert = aps?["alert"] else { return aps?["content-available"]?.int == 1 || aps?["badge"] != nil }
        if let text = alert.string { return !text.isEmpty }
        return hasText(alert, ["title", "subtitle", "body", "loc-key", "title-loc-key"])
    }

    private static func hasNotification(_ json: JSON) -> Bool {
        let message = json["message"] ?? json
        if let notification = message["notification"] {
            return hasText(notification, ["title", "body", "title_loc_key", "body_loc_key"])
        }
        return message["data"]?.object?.members.contains { $0.value.string?.isEmpty == false } ?? true
    }

    private static func textBetweenElements(_ text: String) -> String {
        var (found, isInside) = ("", false)
        for character in text {
            switch character {
            case "<": isInside = true
            case ">": isInside = false
            default: if !isInside { found.append(character) }
            }
        }
        return found
    }
}
