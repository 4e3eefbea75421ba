import HTTPTypes

/// A push service whose refusals a rehearsal can order, by the service's own words.
package protocol RefusingService: SimulatedService {
    associatedtype Reason: RefusalReason

    /// Asked once a notification has passed every check.
    var faults: FaultScript<Reason> { get }

    /// What an answered request was about; nil when it asked for an access token and carried no notification.
    func summary(of request: HTTPRequest, body: [UInt8], answer: HTTPResponse, answerBody: [UInt8]) -> NotificationSummary?
}

extension RefusingService {
    /// The words that `fail` takes.
    package var reasons: [String] { Reason.words }

    /// Refuses the next `count` notifications that would have been accepted, all until `clearFaults` for nil; those to one
    /// handle, or to all. False when the service has no such word.
    ///
    /// - Parameters:
    ///   - handle: A device token (APNs: lower case), registration token, channel URI, or a subscription's endpoint.
    ///   - owner: Who takes it back, where several order refusals.
    ///   - share: Of the notifications that are drawn for it, from 0 to 1.
    ///   - retryAfter: Seconds that the answer names; APNs alone.
    package func fail(
        _ word: String, count: Int?, handle: String? = nil, owner: String? = nil, share: Double = 1, retryAfter: Int? = nil
    ) -> Bool {
        guard let reason = Reason(word: word) else { return false }
        faults.add(reason, count: count, handle: handle, owner: owner, share: share, retryAfter: retryAfter)
        return true
    }

    /// Refuses the next `count` notifications that would have been accepted.
    package func failNext(_ count: Int, with reason: Reason) {
        faults.add(reason, count: count, handle: nil)
    }

    package func clearFaults() { faults.clear() }

    /// Those that somebody ordered; others stay.
    package func clearFaults(of owner: String?) { faults.clear(of: owner) }
}
