package import PushModel

/// A check of a send before a hub accepts it, and again if a hook has changed the send.
///
/// Throws `approval.required` (403) if the send needs approval.
package struct SendAdmission: Sendable {
    package enum Answer: Sendable, Equatable {
        /// Admitted; the value limits its reach at the due time, nil for no limit.
        case admitted(ApprovedReach?)
        /// The same send was approved earlier, and sent as this notification.
        case sent(String)
    }

    /// Gets the send, the sender's original request (equal unless a hook has changed it), and the reach of sends now.
    package typealias Check = @Sendable (SendDraft, _ asked: SendDraft, any ReachCounting) async throws(PushError) -> Answer

    private let check: Check

    package init(_ check: @escaping Check) { self.check = check }

    func answer(_ draft: SendDraft, original: SendDraft, _ counter: any ReachCounting) async throws(PushError) -> Answer {
        try await check(draft, original, counter)
    }
}
