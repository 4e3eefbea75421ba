import HubWire
package import PushModel

/// An error in the protocol's format for every client: XML without a namespace, even if the request was JSON.
package struct ErrorDocument: Sendable, Equatable {
    package static let contentType = "application/xml; charset=utf-8"

    /// Maximum length of a message in characters.
    private static let maximumLength = 1000

    /// The HTTP status.
    package var status: Int
    /// What was wrong and what to do, without the tracking data for the log.
    package var detail: String
    /// The value of `Retry-After` in seconds.
    package var retryAfter: Int?

    package init(status: Int, detail: String, retryAfter: Int? = nil) {
        self.status = status
        self.detail = detail
        self.retryAfter = retryAfter
    }

    /// Makes a document. An error without a status is internal: it becomes 500 without its text, which may contain data not meant for
    /// clients.
    package init(_ error: PushError) {
        guard let status = error.status else {
            self.init(status: 500, detail: "The hub failed.")
            return
        }
        // Clients look for the subcode only in conflicts, and Azure writes it only there.
        let subcode = status == 409 ? error.details["subcode"]?.int : nil
        var detail = subcode.map { "SubCode=\($0). " } ?? ""
        // The message may contain client input of any length.
        detail += error.message.count > Self.maximumLength ? error.message.prefix(Self.maximumLength) + "…" : error.message.asSentence
        if let hint = error.hint { detail += " " + hint.asSentence }
        self.init(status: status, detail: detail, retryAfter: [429, 503].contains(status) && error.isRetryable ? 1 : nil)
    }

    /// Writes `<Error><Code>404</Code><Detail>….TrackingId:…,TimeStamp:11/7/2018 12:18:37 AM</Detail></Error>`.
    package func document(trackingID: String, now: Timestamp) -> [UInt8] {
        var writer = XMLWriter(capacity: 256)
        writer.element("Error") { writer in
            writer.element("Code", text: String(status))
            writer.element("Detail", text: "\(detail)TrackingId:\(trackingID),TimeStamp:\(now.americanText)")
        }
        return writer.bytes
    }
}

extension Timestamp {
    /// The time in UTC as `11/7/2018 12:18:37 AM`.
    var americanText: String {
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let rest = Int(seconds - days * 86_400)
        let date = CivilDate(daysSince1970: days)
        let hour = rest / 3600
        let clock = "\((hour + 11) % 12 + 1):\((rest / 60 % 60).padded(2)):\((rest % 60).padded(2))"
        return "\(date.month)/\(date.day)/\(date.year) \(clock) \(hour < 12 ? "AM" : "PM")"
    }
}

extension String {
    /// The text with an initial capital and a full stop.
    fileprivate var asSentence: String {
        guard let first else { return self }
        return first.uppercased() + dropFirst() + ([".", "?", "!"].contains(last) ? "" : ".")
    }
}
