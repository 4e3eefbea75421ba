import HTTPTypes
import PushCore

/// What became of one push: exactly one of these.
package enum PushOutcome: Sendable, Equatable {
    /// The service answered in full.
    case answered(PushAnswer)
    /// The service certainly did not process it. Safe to send again.
    case notSent(PushFailure)
    /// The request went out in full and no answer came: it may have been processed.
    case unknown(PushFailure)
}

package struct PushAnswer: Sendable, Equatable {
    package var status: Int
    /// The service's `apns-id`, or `apns-request-id` of a broadcast, where it is a UUID.
    package var id: PushID?
    /// What a success of APNs does not have.
    package var details: AnswerDetails?

    package init(status: Int, id: PushID? = nil, details: AnswerDetails? = nil) {
        self.status = status
        self.id = id
        self.details = details
    }
}

/// Apart, so that the outcomes of most successes are small.
package final class AnswerDetails: Sendable, Equatable {
    /// At most ``mostBody`` bytes: what push services document is far smaller.
    package let body: [UInt8]
    /// `Retry-After` as it came.
    package let retryAfter: String?
    /// An `apns-id` that is no UUID.
    package let idText: String?
    /// `Location`: where the message can be found at the service.
    package let location: String?
    /// All fields in their order, from a transport that keeps them.
    package let headers: [PushHeader]

    static let mostBody = 16_384
    static let mostLocation = 4_096

    package init(
        body: [UInt8], retryAfter: String? = nil, idText: String? = nil, location: String? = nil, headers: [PushHeader] = []
    ) {
        self.body = body
        self.retryAfter = retryAfter
        self.idText = idText
        self.location = location
        self.headers = headers
    }

    package static func == (left: AnswerDetails, right: AnswerDetails) -> Bool {
        (left.body, left.retryAfter, left.idText, left.location, left.headers)
            == (right.body, right.retryAfter, right.idText, right.location, right.headers)
    }
}

/// Why there is no answer.
package enum PushFailure: Sendable, Equatable {
    /// The sender's task was cancelled while the push waited.
    case cancelled
    /// No connection came about, or only such as took nothing; when it is tried again, if that is known.
    case unreachable(String, retryAfter: Duration?)
    /// It must not be sent there, today or later.
    case forbidden(String)
    /// The service does not speak HTTP/2; it may take the same request over HTTP/1.1.
    case withoutHTTP2(String)
    /// The connection ended first; what the service said about it.
    case closed(String)
    /// The service refused the stream again and again (RFC 9113, section 8.7).
    case refused
    /// No answer came in time.
    case overdue
    /// The service ended the stream with this code (RFC 9113, section 7).
    case reset(UInt32)
    case other(String)

    package var text: String {
        switch self {
        case .cancelled: "the delivery was cancelled"
        case .unreachable(let why, _), .forbidden(let why), .withoutHTTP2(let why), .other(let why): why
        case .closed(let why): why
        case .refused: "the service refused the request again and again"
        case .overdue: "no answer came in time"
        case .reset(let code): "the service ended the request with HTTP/2 error \(code)"
        }
    }
}

extension PushAnswer {
    /// The answer as a message, for those who read it in full.
    var response: PushResponse {
        var headers = HTTPFields()
        if let kept = details?.headers, !kept.isEmpty {
            for header in kept {
                if let name = HTTPField.Name(header.name) { headers.append(HTTPField(name: name, value: header.value)) }
            }
        } else {
            if let text = details?.idText ?? id?.description { headers[.apnsID] = text }
            if let retryAfter = details?.retryAfter { headers[.retryAfter] = retryAfter }
            if let location = details?.location { headers[.location] = location }
        }
        return PushResponse(status: .init(code: status), headers: headers, body: details?.body ?? [])
    }

    init(_ response: PushResponse) {
        let text = response.headers[.apnsID] ?? response.headers[.apnsRequestID]
        let id = text.flatMap { PushID($0) }
        let details = AnswerDetails(
            body: response.body, retryAfter: response.headers[.retryAfter], idText: id == nil ? text : nil,
            location: response.headers[.location])
        let isPlain = details.body.isEmpty && details.retryAfter == nil && details.idText == nil && details.location == nil
        self.init(status: response.status.code, id: id, details: isPlain ? nil : details)
    }
}
