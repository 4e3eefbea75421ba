import HTTPTypes
package import PushModel

/// The outcome of one push.
package enum PushOutcome: Sendable, Equatable {
    /// The service sent a complete response.
    case answered(PushAnswer)
    /// The service certainly did not process it. Safe to send again.
    case notSent(PushFailure)
    /// The whole request was sent and no response came: it may have been processed.
    case unknown(PushFailure)
}

package struct PushAnswer: Sendable, Equatable {
    package var status: Int
    /// The service's `apns-id`, or `apns-request-id` of a broadcast, if it is a UUID.
    package var id: PushID?
    /// The parts of a response that a success of APNs does not have.
    package var details: AnswerDetails?

    package init(status: Int, id: PushID? = nil, details: AnswerDetails? = nil) {
        self.status = status
        self.id = id
        self.details = details
    }
}

/// Less common parts of a response. A separate object, so that the outcomes of most successes stay small.
package final class AnswerDetails: Sendable, Equatable {
    /// The body, at most ``maximumBodySize`` bytes: push services document far smaller ones.
    package let body: [UInt8]
    /// The value of `Retry-After`.
    package let retryAfter: String?
    /// An `apns-id` that is not a UUID.
    package let idText: String?
    /// The value of `Location`: the message's URI at the service.
    package let location: String?
    /// All header fields in order, from a transport that records them.
    package let headers: [PushHeader]

    static let maximumBodySize = 16_384
    static let maximumLocationSize = 4_096

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

/// The reason why there is no response.
package enum PushFailure: Sendable, Equatable {
    /// The sender's task was cancelled while the push was waiting.
    case cancelled
    /// No connection could be established, or none that accepted pushes; with the time until the next attempt, if known.
    case unreachable(String, retryAfter: Duration?)
    /// The address is not allowed, now or later.
    case forbidden(String)
    /// The service does not support HTTP/2; it may accept the request over HTTP/1.1.
    case withoutHTTP2(String)
    /// The connection ended first, for this reason.
    case closed(String)
    /// The service refused the stream repeatedly (RFC 9113, section 8.7).
    case refused
    /// No response came in time.
    case overdue
    /// The service reset the stream with this error code (RFC 9113, section 7).
    case reset(UInt32)
    case other(String)

    package var text: String {
        switch self {
        case .cancelled: "the delivery was cancelled"
        case .unreachable(let why, _), .forbidden(let why), .withoutHTTP2(let why), .other(let why): why
        case .closed(let why): why
        case .refused: "the service refused the request repeatedly"
        case .overdue: "the response timed out"
        case .reset(let code): "the service ended the request with HTTP/2 error \(code)"
        }
    }
}

extension PushAnswer {
    /// The response as an HTTP message.
    var response: PushResponse {
        var headers = HTTPFields()
        if let fields = details?.headers, !fields.isEmpty {
            for header in fields {
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
