import PushModel
import Synchronization

/// Rechecks an approved send when its hub accepts it: the audience may have grown, and a hook may have changed the send.
final class ApprovalRecheck: Sendable {
    /// The send as the hub last checked it.
    struct Measure: Sendable {
        let request: NotificationRequest
        let reach: AudienceReach
        /// Whether a hook has changed the send.
        let isChanged: Bool
    }

    private let approval: Approval
    private let last = Mutex<Measure?>(nil)

    init(_ approval: Approval) { self.approval = approval }

    /// Nil before the check, and if the hub had accepted the send earlier.
    var measure: Measure? { last.withLock { $0 } }

    /// The send, if it exceeds what was approved.
    var excess: Measure? { measure.flatMap { approval.scope.allows($0.reach) ? nil : $0 } }

    /// The check for the hub. Throws `approval.grown` (409).
    var admission: SendAdmission {
        SendAdmission { draft, asked, counter throws(PushError) in
            let reach = await counter.reach(of: draft.request)
            let measure = Measure(request: draft.request, reach: reach, isChanged: draft.request != asked.request)
            self.last.withLock { $0 = measure }
            guard self.approval.scope.allows(reach) else {
                throw PushError.grown(self.approval, to: reach, self.approval.growth(to: measure))
            }
            return .admitted(self.approval.approvedReach)
        }
    }
}

extension Approval {
    /// Explains how the send differs from the approved one.
    func growth(to measure: ApprovalRecheck.Measure) -> String {
        let (before, now) = (reach.devices.grouped, measure.reach.words)
        guard measure.isChanged else { return "the audience of \(id) has grown from \(before) to \(now)" }
        return "a plugin has changed \(id) to a send to \(now), \(measure.request.audienceWords), and \(before) were approved"
    }
}

extension PushError {
    static func grown(_ approval: Approval, to reach: AudienceReach, _ words: String) -> PushError {
        PushError(
            "approval.grown", "\(words); not sent, the request is still pending",
            hint: "check it again, then approve it with the new size", status: 409,
            details: ["approval": .string(approval.id), "devices": .integer(Int64(reach.devices))])
    }
}
