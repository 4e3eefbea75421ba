import HTTPTypes
import Logging
import PushModel

/// Turns errors into responses, and logs the server's own.
struct ErrorResponder: Sendable {
    let clock: any HubClock
    let log: Logger

    /// In the hub's interface, a missing right to send gives no text, as clients expect.
    /// - Parameter metadata: That of the request, for the log.
    func answer(_ error: PushError, in format: RouteMatch.ErrorFormat, trackingID: String, _ metadata: Logger.Metadata) -> WebAnswer {
        let document = ErrorDocument(error)
        if error.code == "sas.forbidden", document.status == 403, format == .xml { return WebAnswer(.forbidden) }
        if document.status >= 500 {
            let cause = error.details["cause"]?.string.map { ": \($0)" } ?? ""
            var metadata = metadata
            for name in ["plugin", "version", "run"] { metadata[name] = error.details[name]?.string.map { "\($0)" } ?? metadata[name] }
            log.error("\(error.description)\(cause)", metadata: metadata)
        }
        let status = HTTPResponse.Status(code: document.status)
        var answer =
            switch format {
            case .xml: WebAnswer(status, ErrorDocument.contentType, azure(error).document(trackingID: trackingID, now: clock.now))
            case .problem:
                WebAnswer(status, ProblemDocument.contentType, ProblemDocument(error: error, trackingID: trackingID).json.serialized())
            }
        if let seconds = error.details["retryAfter"]?.int ?? document.retryAfter { answer.fields[.retryAfter] = "\(seconds)" }
        if let run = error.details["run"]?.string { answer.fields[.runID] = run }
        if let challenge = error.details["challenge"]?.string { answer.fields[.wwwAuthenticate] = challenge }
        if let methods = error.details["allow"]?.string { answer.fields[.allow] = methods }
        if let codings = error.details["acceptEncoding"]?.string { answer.fields[.acceptEncoding] = codings }
        return answer
    }

    /// The document of the hub's interface. A missing right has Azure's text, which clients may compare.
    private func azure(_ error: PushError) -> ErrorDocument {
        guard error.code == "sas.forbidden", let right = error.details[SASVerifier.right]?.string else { return ErrorDocument(error) }
        var error = error
        error.message = "\(right) claim is required for this operation"
        return ErrorDocument(error)
    }
}
