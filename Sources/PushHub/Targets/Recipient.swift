import PushModel

/// The current registration of a target, or a direct handle, when its batch is due.
struct Recipient: Sendable {
    var handle: DeviceHandle
    var registrationID: RegistrationID?
    var installationID: String?
    var templateName: String?
    /// Whether the registration was removed, or its row reused for another platform, since the send began. It gets nothing.
    var hasLeft = false

    func outcome(_ outcome: OutcomeName, reason: String, _ cause: OutcomeCause, size: Int) -> DeviceOutcome {
        DeviceOutcome(
            device: OutcomeDevice(
                registrationID: registrationID, installationID: installationID, platform: handle.platform, handle: handle,
                templateName: templateName), outcome: outcome, reason: reason, cause: cause, pushID: nil, size: size,
            isRegistrationRemoved: false)
    }

    var duplicateOutcome: DeviceOutcome {
        outcome(.skipped, reason: "", .duplicate, size: 0)
    }

    /// The reason code if a hook has decided.
    static let ruled = "Hook"
}

/// The properties that the recipients of a group have in common.
struct RecipientGroup: Sendable {
    /// Nil for members of several platforms.
    var platform: Platform?
    /// For registrations that were removed.
    var templateName: String?

    init(platform: Platform? = nil, templateName: String? = nil) {
        self.platform = platform
        self.templateName = templateName
    }

    init(_ group: Targets.Group) { self.init(platform: group.platform, templateName: group.template?.name) }
}

/// A device's outcome, and what the hub needs for its registration.
struct DeliveryResult: Sendable {
    var device: DeviceOutcome
    var isHandleInvalid = false
    var invalidSince: Timestamp?
    /// Whether the handle may be valid in another environment.
    var isWrongEnvironment = false

    init(device: DeviceOutcome) {
        self.device = device
    }

    init(target: Recipient, verdict: Verdict, size: Int) {
        switch verdict {
        case .accepted(let id):
            device = target.outcome(.success, reason: "", .accepted, size: size)
            device.pushID = id
        case .rejected(let rejection), .transient(let rejection, _):
            device = target.outcome(rejection.outcome, reason: rejection.reason, .text(rejection.explanation), size: size)
            isHandleInvalid = rejection.isHandleInvalid
            invalidSince = rejection.invalidSince
            isWrongEnvironment = rejection.wrongEnvironment != nil
        case .unknown(let reason):
            device = target.outcome(.pnsUnreachable, reason: reason, .unanswered, size: size)
        }
    }
}

/// A target with its final result.
struct CompletedTarget: Sendable {
    /// Sort order in the send: targets by member number, then duplicates by theirs.
    var order: Int
    var result: DeliveryResult

    /// The order of a duplicate.
    static func order(ofDuplicate member: UInt32) -> Int { 1 << 32 + Int(member) }

    /// The row of its registration, if it has one.
    var row: UInt32? { result.device.registrationID == nil ? nil : UInt32(truncatingIfNeeded: order) }
}

extension Verdict {
    var summary: String {
        switch self {
        case .accepted(let id): "accepted\(id.map { " as \($0)" } ?? "")"
        case .rejected(let rejection): "rejected: \(rejection.status) \(rejection.reason)"
        case .transient(let rejection, _): "not now: \(rejection.status) \(rejection.reason)"
        case .unknown(let reason): "unknown: \(reason)"
        }
    }
}

extension RegistrationTable {
    /// The current recipients in these rows, in their order.
    func recipients(at rows: some Sequence<UInt32>, of group: RecipientGroup) -> [Recipient] {
        rows.map { row in
            let traits = columns.traits[row]
            // Another platform could misread the bytes.
            let hasLeft = !traits.isLive || group.platform.map { $0 != traits.platform } == true
            return Recipient(
                handle: columns.handle(at: row), registrationID: id(at: row), installationID: installationID(at: row),
                templateName: traits.isLive ? templates[columns.templates[row]]?.name : group.templateName, hasLeft: hasLeft)
        }
    }
}
