/// Something that an operator should know about one notification, beyond its counts.
package enum Notice: Hashable, Sendable {
    /// A hook deferred these devices until `until`, or until several times later than those of other notices where that is nil. Removed when
    /// the hub goes on with them.
    case deferred(devices: Int, until: Timestamp?, reason: String)
    /// A scheduled notification would have reached more devices at its due time than were approved, and was abandoned. The reach is nil
    /// where it cannot be counted, as that of a broadcast channel.
    case exceededApproval(reach: Int?, ApprovedReach)
    /// The plan that the notification was bound to could not be read at its due time: it was abandoned.
    case planLost(plan: String)
    /// Most answers of the push service say that the tokens belong to another environment than the credential.
    case wrongEnvironment(Platform, advice: String)
    /// Push services called the tokens of more than this share of the audience invalid: further removals are held.
    case heldRemovals(percent: Int)
    /// The send was planned and not made.
    case planned(devices: Int)
    /// Text of another server, or of an older version. It is shown and never matched.
    case text(String)

    /// What a notice is stored under. A value never changes; a case may be renamed.
    package enum Kind: String, Sendable {
        case deferred
        case exceededApproval = "exceeded_approval"
        case planLost = "plan_lost"
        case wrongEnvironment = "wrong_environment"
        case heldRemovals = "held_removals"
        case planned
    }

    package var isDeferral: Bool { if case .deferred = self { true } else { false } }

    /// Whether it says why no device got the notification.
    package var explainsAbandonment: Bool {
        switch self {
        case .exceededApproval, .planLost: true
        case .deferred, .wrongEnvironment, .heldRemovals, .planned, .text: false
        }
    }

    /// For people.
    package var text: String {
        switch self {
        case .deferred(let devices, let time, let reason):
            "\(devices) device\(devices == 1 ? " waits" : "s wait") until " + (time.map { "\($0): \(reason)" } ?? "later moments")
        case .exceededApproval(let reach, let approved):
            "at its moment it would have reached \(Self.devices(reach)), more than \(approved.text): nobody got it"
        case .planLost(let plan): "the plan \(plan) is lost: nobody gets it"
        case .wrongEnvironment(let platform, let advice): "\(platform.displayName): \(advice)"
        case .heldRemovals(let percent):
            "push services called the tokens of more than \(percent) % of the audience invalid: "
                + "further removals are held (feedback.max_removed_share)"
        case .planned(let devices): "planned, not sent: \(devices) device\(devices == 1 ? "" : "s") would get it"
        case .text(let text): text
        }
    }

    /// `12 devices`
    static func devices(_ reach: Int?) -> String { reach?.devicesInWords ?? "an unknown number of devices" }
}

extension NotificationOutcome {
    /// When the first of the devices that hooks deferred is sent to; nil where none is deferred.
    package var deferredUntil: Timestamp? {
        notices.compactMap { if case .deferred(_, let time, _) = $0 { time } else { nil } }.min()
    }
}
