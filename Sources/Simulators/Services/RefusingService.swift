package import HTTPTypes

/// A simulated service with fault injection: tests order rejections by the service's own reason strings.
package protocol RefusingService: SimulatedService {
    associatedtype Reason: RefusalReason

    /// Faults for notifications, applied after all other checks have passed.
    var faults: FaultInjector<Reason> { get }

    /// Faults for access token requests, applied after all other checks; `nil` for a service without a token endpoint.
    var grantFaults: FaultInjector<GrantReason>? { get }

    /// Invalidates all issued access tokens; does nothing for a service without a token endpoint.
    func revokeAccessTokens()

    /// Answers one request, synchronously.
    func respond(to request: HTTPRequest, body: [UInt8]) -> (response: HTTPResponse, body: [UInt8])

    /// Summarises an answered request; `nil` if it asked for an access token.
    func summary(of request: HTTPRequest, body: [UInt8], answer: HTTPResponse, answerBody: [UInt8]) -> NotificationSummary?
}

extension RefusingService {
    package var grantFaults: FaultInjector<GrantReason>? { nil }

    package func revokeAccessTokens() {}

    package func handle(_ request: HTTPRequest, body: [UInt8]) async -> (response: HTTPResponse, body: [UInt8]) {
        respond(to: request, body: body)
    }

    /// The words that `fail` accepts.
    package var reasons: [String] { Reason.words }

    /// Rejects the next `count` notifications that would have been accepted; with `nil`, all until `clearFaults`. Returns `false` for an
    /// unknown word.
    ///
    /// - Parameters:
    ///   - handle: Limits it to a device token (APNs: lower case), registration token, channel URI or endpoint; `nil` for all.
    ///   - owner: Identifies who ordered the fault, for `clearFaults(of:)`.
    ///   - share: The share of notifications that are rejected at random, from 0 to 1.
    ///   - retryAfter: Seconds for `Retry-After`, if the reason allows it; see ``allowsRetryAfter(_:)``.
    package func fail(
        _ word: String, count: Int?, handle: String? = nil, owner: String? = nil, share: Double = 1, retryAfter: Int? = nil
    ) -> Bool {
        guard let reason = Reason(word: word) else { return false }
        faults.add(reason, count: count, handle: handle, owner: owner, share: share, retryAfter: retryAfter)
        return true
    }

    /// Rejects access token requests, with the words of RFC 6749. Returns `false` also for a service without a token endpoint.
    package func failGrants(
        _ word: String, count: Int?, owner: String? = nil, share: Double = 1, retryAfter: Int? = nil
    ) -> Bool {
        guard let grantFaults, let reason = GrantReason(word: word) else { return false }
        grantFaults.add(reason, count: count, handle: nil, owner: owner, share: share, retryAfter: retryAfter)
        return true
    }

    /// The words that `failGrants` accepts; empty for a service without a token endpoint.
    package var grantReasons: [String] { grantFaults == nil ? [] : GrantReason.words }

    /// Whether responses with this word may have `Retry-After`.
    package func allowsRetryAfter(_ word: String) -> Bool { Reason(word: word)?.allowsRetryAfter == true }

    /// Whether responses of the token endpoint with this word may have `Retry-After`.
    package func grantAllowsRetryAfter(_ word: String) -> Bool { GrantReason(word: word)?.allowsRetryAfter == true }

    /// Rejects the next `count` notifications that would have been accepted.
    package func failNext(_ count: Int, with reason: Reason) {
        faults.add(reason, count: count, handle: nil)
    }

    package func clearFaults() {
        faults.clear()
        grantFaults?.clear()
    }

    /// Removes the faults that one owner ordered.
    package func clearFaults(of owner: String?) {
        faults.clear(of: owner)
        grantFaults?.clear(of: owner)
    }
}
