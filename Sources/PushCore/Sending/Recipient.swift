/// Who stands at a target when its turn comes.
struct Recipient: Sendable {
    var handle: DeviceHandle
    var registrationID: RegistrationID?
    var installationID: String?
    var templateName: String?
    /// It has left since the send began, or is another platform's device now: it gets nothing.
    var hasLeft = false

    func outcome(_ outcome: OutcomeName, reason: String, _ explanation: String, size: Int) -> DeviceOutcome {
        DeviceOutcome(
            registrationID: registrationID, installationID: installationID, platform: handle.platform, handle: handle,
            templateName: templateName, outcome: outcome, reason: reason, explanation: explanation, pushID: nil, size: size,
            isRegistrationRemoved: false)
    }

    var skippedAsDuplicate: DeviceOutcome {
        outcome(.skipped, reason: "", Self.duplicate, size: 0)
    }

    /// The reason, instead of a push service's own, where a hook ruled.
    static let ruled = "Hook"
    /// What is said of a registration that gets nothing because another with its handle does.
    static let duplicate = "another registration with the same handle stands for it"
    /// What is said of one that is not there any more when its turn comes.
    static let leftEarly = "the registration left before its turn came"
    /// What is said where a push went out and nobody answered.
    static let unanswered = "nobody knows whether it was delivered"
}

/// What has to be known of a group to say who its targets are.
struct RecipientGroup: Sendable {
    /// Nil where they are of many.
    var platform: Platform?
    /// Of those that have left.
    var templateName: String?

    init(platform: Platform? = nil, templateName: String? = nil) {
        self.platform = platform
        self.templateName = templateName
    }

    init(_ group: Targets.Group) { self.init(platform: group.platform, templateName: group.template?.name) }
}

/// A device's outcome with what the hub must learn from it.
struct DeliveryResult: Sendable {
    var device: DeviceOutcome
    var isHandleDead = false
    var deadSince: Timestamp?
    /// The handle may be good in another place.
    var isMixedUp = false

    init(device: DeviceOutcome) {
        self.device = device
    }

    init(target: Recipient, verdict: Verdict, size: Int) {
        switch verdict {
        case .accepted(let id):
            device = target.outcome(.success, reason: "", "accepted by the push service", size: size)
            device.pushID = id
        case .rejected(let rejection), .transient(let rejection, _):
            device = target.outcome(rejection.outcome, reason: rejection.reason, rejection.explanation, size: size)
            isHandleDead = rejection.isHandleDead
            deadSince = rejection.deadSince
            isMixedUp = rejection.mixUp != nil
        case .unknown(let reason):
            device = target.outcome(
                .pnsUnreachable, reason: reason, Recipient.unanswered, size: size)
        }
    }
}

/// A target with its verdict.
struct SettledTarget: Sendable {
    /// Among the others of the send: targets by their places, then duplicates by theirs.
    var order: Int
    var result: DeliveryResult

    /// The order of a duplicate.
    static func order(ofDuplicate member: UInt32) -> Int { 1 << 32 + Int(member) }

    /// Where its registration stands, if it has one.
    var place: UInt32? { result.device.registrationID == nil ? nil : UInt32(truncatingIfNeeded: order) }
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
