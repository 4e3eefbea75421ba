/// Requests of plugins to servers elsewhere, within what was granted to them.
///
/// Errors: `http.method`, `http.invalid_url` and `http.invalid_header` for a request that is not sent, `http.denied` for a host that is
/// not granted, `http.private_address` for one that leads to this machine or an address that is not public, `http.unreachable`, `http.tls`,
/// `http.timeout`, `http.too_large` for a body of a request or an answer, `http.redirects` for a redirect that is not followed,
/// `cancelled` when the caller's task was. They name host, port and path, and never a query, a header's value or a body.
package protocol OutboundHTTP: Sendable {
    /// An answer of any status is an answer.
    /// - Parameter reach: asked again for every redirect.
    func send(_ request: OutboundRequest, within reach: OutboundReach) async throws(PushError) -> OutboundAnswer
}

package struct OutboundRequest: Sendable {
    package static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    package static let timeouts: ClosedRange<Duration> = .milliseconds(1) ... .seconds(30)
    /// Bytes of a body.
    package static let maximumBody = 1 << 20
    package static let answerSizes = 0...(8 << 20)
    package static let redirectCounts = 0...10

    package var method: String
    /// Absolute, with `http` or `https`.
    package var url: String
    package var headers: [PushHeader]
    package var body: [UInt8]
    /// For the whole: names, connections, TLS and all redirects up to the last byte of the answer.
    package let timeout: Duration
    /// Bytes of the answer's body.
    package let maximumAnswer: Int
    /// 0: a redirect is an answer as any other.
    package let maximumRedirects: Int

    /// Numbers outside of their range become the nearest one of it.
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

package struct OutboundAnswer: Sendable, Equatable {
    package var status: Int
    /// As they came, in their order.
    package var headers: [PushHeader]
    /// As it came: what is compressed stays so.
    package var body: [UInt8]
    /// Whose answer it is after all redirects, with the query and without a fragment.
    package var url: String

    package init(status: Int, headers: [PushHeader] = [], body: [UInt8] = [], url: String) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }
}

extension Comparable {
    fileprivate func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
