/// Sends HTTP requests of plugins to other servers, within the hosts granted to the plugin.
///
/// Errors: `http.method`, `http.invalid_url` and `http.invalid_header` for an invalid request, which is not sent; `http.denied` for a host
/// that is not granted; `http.private_address` for a host that resolves to this machine or to an address that is not public;
/// `http.unreachable`; `http.tls`; `http.timeout`; `http.too_large` for a request or response body; `http.redirects` for a redirect that is
/// not followed; `cancelled` if the caller's task was. Messages name host, port and path, but never a query, a header's value or a body.
package protocol OutboundHTTP: Sendable {
    /// Returns the response, whatever its status.
    /// - Parameter reach: checked again for every redirect.
    func send(_ request: OutboundRequest, within reach: OutboundAllowlist) async throws(PushError) -> OutboundResponse
}

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

package struct OutboundResponse: Sendable, Equatable {
    package var status: Int
    /// As received, in their order.
    package var headers: [PushHeader]
    /// As received: a compressed body is not decompressed.
    package var body: [UInt8]
    /// The URL that responded after all redirects, with its query and without a fragment.
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
