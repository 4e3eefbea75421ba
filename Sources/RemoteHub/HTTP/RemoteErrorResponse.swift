import HubWire
import NIOHTTP1
import PushModel

/// An error response as an error: problem details (RFC 9457) from a PushHost, XML from Azure, or only a status.
struct RemoteErrorResponse {
    let error: PushError
    let status: Int
    /// The wait time in `Retry-After` (RFC 9110, section 10.2.3).
    let retryAfter: Duration?

    /// Maximum length of text in an error, in characters.
    private static let longest = 500
    /// Clock difference in seconds above which the error mentions it.
    private static let clockSkew: Int64 = 60

    init(_ answer: RemoteAnswer, of request: RemoteRequest, now: Timestamp) {
        status = answer.status
        retryAfter = Self.retryAfter(answer.headers, now: now)
        var error = Self.problem(answer) ?? Self.document(answer, of: request)
        error.status = answer.status
        error.trackingID = error.trackingID ?? answer.headers.first(name: "TrackingId")
        if let retryAfter { error.details["retry_after"] = .integer(retryAfter.components.seconds) }
        if answer.status == 401, error.code == "sas.expired" || error.code == "target.key",
            let serverTime = answer.headers.first(name: "Date").flatMap({ Timestamp(httpDate: $0) })
        {
            let difference = now.seconds - serverTime.seconds
            if abs(difference) > Self.clockSkew { error = Self.clock(request, difference, error) }
        }
        self.error = error
        isPassing = [408, 429, 500, 502, 503, 504].contains(status) || status == 403 && retryAfter != nil
    }

    /// The key in an error's details that marks an error with its own code.
    static let isProblem = "problem"

    /// Whether the same request may succeed when repeated.
    let isPassing: Bool

    /// Whether the machine may have executed the request nonetheless. RFC 9110, section 15.4: after a POST, 303 and often 301 and 302 point
    /// to the result.
    var mayHaveExecuted: Bool { [301, 302, 303].contains(status) || status >= 500 && status != 503 }

    /// Whether the status means that the machine did not process the request.
    var isUnprocessed: Bool { [408, 429, 503].contains(status) || status == 403 }

    private static func retryAfter(_ headers: HTTPHeaders, now: Timestamp) -> Duration? {
        guard let text = headers.first(name: "Retry-After")?.trimmed else { return nil }
        if let seconds = Int64(text), seconds >= 0 { return .seconds(min(seconds, 86_400)) }
        return Timestamp(httpDate: text).map { .seconds(max(0, $0.seconds - now.seconds)) }
    }

    private static func problem(_ answer: RemoteAnswer) -> PushError? {
        guard answer.headers.first(name: "Content-Type")?.contains("json") == true, let problem = try? JSON(parsing: answer.body),
            let code = problem["code"]?.string
        else { return nil }
        let message = problem["detail"]?.string ?? problem["title"]?.string ?? "the server rejected the request"
        return PushError(
            code, String(message.prefix(longest)), hint: problem["hint"]?.string.map { String($0.prefix(longest)) },
            isRetryable: [429, 503].contains(answer.status), trackingID: problem["trackingId"]?.string, details: [isProblem: true])
    }

    /// Reads Azure's `<Error><Code>…</Code><Detail>…</Detail></Error>`, or uses only the status.
    private static func document(_ answer: RemoteAnswer, of request: RemoteRequest) -> PushError {
        let root = try? XMLElement(parsing: answer.body, limit: 1 << 20)
        let detail = root?.name == "Error" ? root?.text(of: "Detail")?.trimmed.nonEmpty : nil
        let words = String((detail.map(withoutMarks) ?? "the response is \(answer.status)").prefix(longest))
        if (300..<400).contains(answer.status) {
            let place = answer.redirect.map { " to \($0)" } ?? ""
            return PushError(
                "target.refused",
                "\(request.target): the response is a redirect\(place), which is not followed",
                hint: "use the address that it redirects to")
        }
        let (code, hint): (String, String?) =
            switch answer.status {
            case 401: ("target.key", "check name and key of the connection string, and that they are for this hub")
            case 403 where answer.headers.contains(name: "Retry-After"): ("target.throttled", "wait, or raise the quota")
            case 403: ("target.key", "use the connection string of a rule that has the right")
            case 404: ("hub.not_found", "check the name of the hub, and the id")
            case 410: ("hub.gone", "ask for a new registration id")
            case 412: ("hub.precondition_failed", "read it again, then write")
            case 413: ("payload.too_large", "shorten it")
            case 429: ("target.throttled", "wait, then try again")
            case 500...: ("target.failed", "try again later")
            default: ("target.refused", nil)
            }
        return PushError(
            code, "\(request.target): \(words)", hint: hint, isRetryable: [429, 500, 502, 503, 504].contains(answer.status))
    }

    /// The detail without the tracking data that Azure appends.
    private static func withoutMarks(_ detail: String) -> String {
        var text = detail.firstRange(of: "TrackingId:").map { String(detail[..<$0.lowerBound]) } ?? detail
        while let last = text.last, last == "." || last == " " || last == "," { text.removeLast() }
        return text
    }

    private static func clock(_ request: RemoteRequest, _ difference: Int64, _ refusal: PushError) -> PushError {
        let apart = Duration.seconds(abs(difference)).short
        return PushError(
            "target.clock",
            "\(request.host) rejects the signature: the clock of this machine is \(apart) \(difference < 0 ? "behind" : "ahead of") its own",
            hint: "set the clock of this machine", status: refusal.status, trackingID: refusal.trackingID,
            details: ["seconds": .integer(difference)])
    }
}
