import HTTPTypes

/// A push service whose refusals a rehearsal can order, by the service's own words.
package protocol RefusingService: SimulatedService {
    associatedtype Reason: RefusalReason

    /// Asked once a notification has passed every check.
    var faults: FaultScript<Reason> { get }

    /// Asked once a request for an access token has passed every check; nil for a service without a token endpoint.
    var grantFaults: FaultScript<GrantReason>? { get }

    /// Makes all access tokens bad that were given out; does nothing for a service without a token endpoint.
    func revokeAccessTokens()

    /// Answers one request at once.
    func respond(to request: HTTPRequest, body: [UInt8]) -> (response: HTTPResponse, body: [UInt8])

    /// What an answered request was about; nil when it asked for an access token and carried no notification.
    func summary(of request: HTTPRequest, body: [UInt8], answer: HTTPResponse, answerBody: [UInt8]) -> NotificationSummary?
}

extension RefusingService {
    package var grantFaults: FaultScript<GrantReason>? { nil }

    package func revokeAccessTokens() {}

    package func handle(_ request: HTTPRequest, body: [UInt8]) async -> (response: HTTPResponse, body: [UInt8]) {
        respond(to: request, body: body)
    }

    /// The words that `fail` takes.
    package var reasons: [String] { Reason.words }

    /// Refuses the next `count` notifications that would have been accepted, all until `clearFaults` for nil; those to one
    /// handle, or to all. False when the service has no such word.
    ///
    /// - Parameters:
    ///   - handle: A device token (APNs: lower case), registration token, channel URI, or a subscription's endpoint.
    ///   - owner: Who takes it back, where several order refusals.
    ///   - share: Of the notifications that are drawn for it, from 0 to 1.
    ///   - retryAfter: Seconds that the answer names, where the reason is one that may; see ``namesPause(_:)``.
    package func fail(
        _ word: String, count: Int?, handle: String? = nil, owner: String? = nil, share: Double = 1, retryAfter: Int? = nil
    ) -> Bool {
        guard let reason = Reason(word: word) else { return false }
        faults.add(reason, count: count, handle: handle, owner: owner, share: share, retryAfter: retryAfter)
        return true
    }

    /// The same for requests for access tokens, in the words of RFC 6749; false for a service without a token endpoint as well.
    package func failGrants(
        _ word: String, count: Int?, owner: String? = nil, share: Double = 1, retryAfter: Int? = nil
    ) -> Bool {
        guard let grantFaults, let reason = GrantReason(word: word) else { return false }
        grantFaults.add(reason, count: count, handle: nil, owner: owner, share: share, retryAfter: retryAfter)
        return true
    }

    /// The words that `failGrants` takes; none for a service without a token endpoint.
    package var grantReasons: [String] { grantFaults == nil ? [] : GrantReason.words }

    /// Whether the answers with a word may say how long to wait.
    package func namesPause(_ word: String) -> Bool { Reason(word: word)?.namesPause == true }

    /// The same of the token endpoint.
    package func grantNamesPause(_ word: String) -> Bool { GrantReason(word: word)?.namesPause == true }

    /// Refuses the next `count` notifications that would have been accepted.
    package func failNext(_ count: Int, with reason: Reason) {
        faults.add(reason, count: count, handle: nil)
    }

    package func clearFaults() {
        faults.clear()
        grantFaults?.clear()
    }

    /// Those that somebody ordered; others stay.
    package func clearFaults(of owner: String?) {
        faults.clear(of: owner)
        grantFaults?.clear(of: owner)
    }
}
