/// A device that is traced: what the hub knows of it now, and what it has kept of it.
struct TracedDevice: Sendable {
    var name: String
    var platform: Platform?
    var installation: Installation?
    /// Of the installation, be it there still or not.
    var installationID: String?
    /// Those that stand now.
    var registrations: [PlacedRegistration] = []
    /// The latest first.
    var departed: [DepartedRegistration] = []
    /// Those that left because the handle was dead; the latest first.
    var pruned: [PrunedDevice] = []
    /// All that are known of it.
    var handles: [DeviceHandle] = []
    /// Its name, where it is simulated.
    var phone: String?
    /// Where one registration was asked for, and not the device.
    var asked: RegistrationID?

    var probe: OutcomeProbe {
        OutcomeProbe(
            registrations: Set(registrations.map(\.registration.id) + departed.map(\.id) + pruned.compactMap { RegistrationID($0.id) }),
            installation: installationID, handles: Set(handles))
    }

    /// Nothing is known of it.
    var isStranger: Bool { registrations.isEmpty && departed.isEmpty && pruned.isEmpty && installation == nil }
}

/// All that is known of a notification and a device, put together: what a trace is made of.
struct TraceFacts: Sendable {
    /// A registration, and whether the notification is for it.
    struct Candidate: Sendable {
        enum Fit: Sendable, Equatable {
            case fits
            case needsTemplate
            case needsNative
            case wrongPlatform
        }

        var registration: Registration
        /// By its tags of now; nil where it is meant.
        var failure: TagFailure?
        var fit: Fit
        /// Properties that its template uses, that nobody gives and that have no default.
        var missing: [String]
        /// Whether there is no text in what came out of it.
        var isTextless: Bool
        /// Of what came out of it, in bytes, and the most that its push service takes.
        var size: Int
        var limit: Int
    }

    struct Hold: Sendable {
        var moment: Timestamp
        /// The plugin, and what it says.
        var reason: String
    }

    /// The plan of the notification.
    enum Plan: Sendable {
        case forgotten
        /// - Parameter members: the registrations of the device that belong to it.
        case kept(madeAt: Timestamp, members: Set<RegistrationID>)
    }

    var now: Timestamp
    var kept: KeptNotification
    var device: TracedDevice
    /// What became of it, in the order in which it was recorded.
    var rows: [RecordedOutcome]
    var candidates: [Candidate]
    /// How many registrations the audience names now.
    var matched: Int
    /// Nil for a notification without one, and where there are rows.
    var plan: Plan?
    var hold: Hold?
    /// When its turn comes, about.
    var turn: Timestamp?
    var troubles: [DeliveryTrouble]
    var fate: PhoneFate?
    /// The notification whose push took the place of this one's.
    var replacement: String?

    /// When it went out, or was accepted.
    var sentAt: Timestamp { kept.outcome.startedAt ?? kept.outcome.scheduledFor ?? kept.outcome.enqueuedAt }
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
    /// Properties that nobody gives and that have no default, in the order of the body.
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

/// Whether a payload has a text that a phone shows by itself.
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
            // What stands between elements: all texts of a toast.
            let text = String(decoding: body, as: UTF8.self)
            isMissing = text.hasPrefix("<") && !Self.textBetweenElements(text).contains { !$0.isWhitespace }
        case .mpns, .adm, .baidu, .xiaomi: isMissing = false
        }
    }

    private static func json(_ body: [UInt8]) -> JSON? { try? JSON(parsing: body) }

    private static func hasText(_ json: JSON?, _ names: [String]) -> Bool {
        names.contains { json?[$0]?.string?.isEmpty == false }
    }

    /// A push that is not for the user has nothing to miss.
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
