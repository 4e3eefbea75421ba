import Synchronization

/// Somebody's leave for a send, which its hub holds against what is about to leave: the audience may have grown since, and a hook may have
/// made it another send.
final class SendLeave: Sendable {
    /// What was about to leave when the hub looked last.
    struct Measure: Sendable {
        let request: NotificationRequest
        let reach: AudienceReach
        /// A hook has made it what it is.
        let isChanged: Bool
    }

    private let approval: Approval
    private let last = Mutex<Measure?>(nil)

    init(_ approval: Approval) { self.approval = approval }

    /// Nil before the hub has looked, and where it has taken the send before.
    var measure: Measure? { last.withLock { $0 } }

    /// What was about to leave and is more than was allowed; nil where it is not.
    var excess: Measure? { measure.flatMap { approval.allows($0.reach) ? nil : $0 } }

    /// Throws `approval.grown` (409).
    var admission: SendAdmission {
        SendAdmission { draft, asked, hub throws(PushError) in
            let reach = await hub.reach(of: draft.request)
            let measure = Measure(request: draft.request, reach: reach, isChanged: draft.request != asked.request)
            self.last.withLock { $0 = measure }
            guard self.approval.allows(reach) else {
                throw PushError.grown(self.approval, to: reach, self.approval.growth(to: measure))
            }
            return .admitted(self.approval.approvedReach)
        }
    }
}

extension Approval {
    /// In words, why it is not the send that was allowed.
    func growth(to measure: SendLeave.Measure) -> String {
        let (before, now) = (reach.devices.grouped, measure.reach.words)
        guard measure.isChanged else { return "the audience of \(id) has grown from \(before) to \(now)" }
        return "a plugin makes \(id) a send to \(now), \(measure.request.audienceWords), and its leave is for \(before)"
    }
}

extension PushError {
    static func grown(_ approval: Approval, to reach: AudienceReach, _ words: String) -> PushError {
        PushError(
            "approval.grown", "\(words): nothing was sent, and it still waits",
            hint: "look at it again, then approve it with the new size", status: 409,
            details: ["approval": .string(approval.id), "devices": .integer(Int64(reach.devices))])
    }
}
