/// An HTTP request of a plugin to another server.
package struct OutboundRequest: Sendable {
    package static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    package static let timeouts: ClosedRange<Duration> = .milliseconds(1) ... .seconds(30)
    /// Maximum size of a request body, in bytes.
    package static let maximumBody = 1 << 20
    package static let answerSizes = 0...(8 << 20)
    package static let redirectCounts = 0...10

    package var method: String
    /// Absolute, with `http` or `https`.
    package var url: String
    package var headers: [PushHeader]
    package var body: [UInt8]
    /// Limits the whole exchange: name resolution, connections, TLS and all redirects, up to the last byte of the response.
    package let timeout: Duration
    /// Maximum size of the response's body, in bytes.
    package let maximumAnswer: Int
    /// 0: a redirect is returned like any other response.
    package let maximumRedirects: Int

    /// Clamps numbers to their ranges.
    package init(
        method: String = "GET", url: String, headers: [PushHeader] = [], body: [UInt8] = [], timeout: Duration = .seconds(10),
        maximumAnswer: Int = 1 << 20, maximumRedirects: Int = 5
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout.clamped(to: Self.timeouts)
        self.maximumAnswer = maximumAnswer.clamped(to: Self.answerSizes)
        self.maximumRedirects = maximumRedirects.clamped(to: Self.redirectCounts)
    }
}

extension Comparable {
    fileprivate func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
