/// Something that an operator should know about one notification, beyond its counts.
package enum Notice: Hashable, Sendable {
    /// A hook deferred these devices until `until`, or to several later times if that is nil. Removed when the hub resumes them.
    case deferred(devices: Int, until: Timestamp?, reason: String)
    /// A scheduled notification would have reached more devices at its due time than were approved, and was abandoned. The reach is nil if
    /// it cannot be counted, as for a broadcast channel.
    case exceededApproval(reach: Int?, ApprovedReach)
    /// The plan of the notification could not be read at its due time: the notification was abandoned.
    case planLost(plan: String)
    /// Most results indicate that the tokens belong to another environment than the credential.
    case wrongEnvironment(Platform, advice: String)
    /// Push services reported the tokens of more than this share of the audience as invalid: further removals are held.
    case heldRemovals(percent: Int)
    /// The send was planned but not made.
    case planned(devices: Int)
    /// Text from another server or an older version. Shown but never matched.
    case text(String)

    /// The tag under which a notice is stored. A value never changes; a case may be renamed.
    package enum Kind: String, Sendable {
        case deferred
        case exceededApproval = "exceeded_approval"
        case planLost = "plan_lost"
        case wrongEnvironment = "wrong_environment"
        case heldRemovals = "held_removals"
        case planned
    }

    package var isDeferral: Bool { if case .deferred = self { true } else { false } }

    /// Whether the notice explains why no device received the notification.
    package var explainsAbandonment: Bool {
        switch self {
        case .exceededApproval, .planLost: true
        case .deferred, .wrongEnvironment, .heldRemovals, .planned, .text: false
        }
    }

    /// The notice as text for people.
    package var text: String {
        switch self {
        case .deferred(let devices, let time, let reason):
            "\(devices) device\(devices == 1 ? " waits" : "s wait") until " + (time.map { "\($0): \(reason)" } ?? "later times")
        case .exceededApproval(let reach, let approved):
            "not sent: \(Self.devices(reach)) at the due time, more than \(approved.text)"
        case .planLost(let plan): "not sent: cannot read the plan \(plan)"
        case .wrongEnvironment(let platform, let advice): "\(platform.displayName): \(advice)"
        case .heldRemovals(let percent):
            "push services reported more than \(percent)% of the audience's tokens as invalid; "
                + "further removals are held (feedback.max_removed_share)"
        case .planned(let devices): "planned, not sent: \(devices) device\(devices == 1 ? "" : "s") would get it"
        case .text(let text): text
        }
    }

    /// `12 devices`
    package static func devices(_ reach: Int?) -> String { reach?.deviceCountText ?? "an unknown number of devices" }
}

extension NotificationOutcome {
    /// The earliest time at which deferred devices are sent to; nil if none are deferred.
    package var deferredUntil: Timestamp? {
        notices.compactMap { if case .deferred(_, let time, _) = $0 { time } else { nil } }.min()
    }
}
