import HTTPTypes
import PushModel

/// The response of a push service to one message. The status decides the verdict; details in the body (autopush: `errno` and `message`,
/// Apple: `reason`) go into the explanation.
struct WebPushAnswer: Sendable {
    private let status: Int
    /// `nil` for a success, and for a status that no push service documents.
    private let reason: WebPushReason?
    /// The service's own reason string, if it sent one.
    private let word: String?
    private let detail: String
    private let isLabFull: Bool
    private let id: String?
    private let retryAfter: Duration?

    init(_ response: PushResponse, now: Timestamp) {
        status = response.status.code
        if Self.isSuccess(status) {
            // The message's URI at the service (RFC 8030, section 5); its last part is the id.
            id = response.headers[.location]?.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)).excerpt }
            (reason, retryAfter, word, detail, isLabFull) = (nil, nil, nil, "", false)
            return
        }
        id = nil
        reason = WebPushReason.allCases.first { $0.status == response.status.code }
        retryAfter = response.retryAfter(now: now)
        let body = JSON(answer: response.body)
        word = body?["reason"]?.string?.excerpt
        isLabFull = status == Rejection.labFullStatus && body?["error"]?.string == Rejection.labFullReason
        let number = body?["errno"]?.int.map { "errno \($0)" }
        detail = [number, body?["message"]?.string?.excerpt].compactMap(\.self).joined(separator: ": ")
    }

    /// The verdict. 201 means accepted, 202 accepted with a receipt to follow (RFC 8030, sections 5 and 5.1).
    ///
    /// - Parameter hasOwnHeaders: Whether the sender set headers that the service may have rejected.
    func verdict(hasOwnHeaders: Bool) -> Verdict {
        if Self.isSuccess(status) { return .accepted(id: id) }
        if isLabFull { return .rejected(.labFull) }
        let text = reason?.explanation ?? explanationOfStatus
        let rejection = Rejection(
            status: status, reason: word ?? reason?.rawValue ?? "HTTP \(status)",
            explanation: detail.isEmpty ? text : "\(text) (\(detail))", outcome: reason?.outcome ?? outcomeOfStatus,
            handleFault: reason?.handleFault,
            scope: scope(hasOwnHeaders: hasOwnHeaders))
        return (reason?.retry ?? (status >= 500 ? .later() : .never)).verdict(rejection, retryAfter: retryAfter)
    }

    /// How far the rejection reaches. A token that one subscription rejects may suit all others.
    private func scope(hasOwnHeaders: Bool) -> Rejection.Scope {
        switch reason {
        case .badRequest: hasOwnHeaders ? .send : .hub
        case .some(let reason) where reason.isAboutToken: .send
        default: .hub
        }
    }

    private static func isSuccess(_ status: Int) -> Bool { (200..<300).contains(status) }

    // MARK: - Fallbacks by status

    private var explanationOfStatus: String {
        status >= 500
            ? "the push service had an error; try again later"
            : "the push service answered with status \(status), which no push service documents"
    }

    private var outcomeOfStatus: OutcomeName { status >= 500 ? .pnsServerError : .unknownError }
}
