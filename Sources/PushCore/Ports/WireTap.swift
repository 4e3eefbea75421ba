/// Everything that crossed a push service's wire, for `push.wire` and `--trace`.
package protocol WireTap: Sendable {
    /// The exchanges so far with `service` (all of them for nil), oldest first.
    func exchanges(with service: Platform?) async throws(PushError) -> [WireExchange]
}

/// One request and its answer, as the bytes were, but for credentials: those are masked at fixed length.
package struct WireExchange: Sendable, Equatable {
    package var service: Platform
    package var time: Timestamp
    package var method: String
    package var authority: String
    package var path: String
    package var requestHeaders: [PushHeader]
    package var requestBody: [UInt8]
    /// 0 when no answer came.
    package var status: Int
    package var responseHeaders: [PushHeader]
    package var responseBody: [UInt8]

    package init(
        service: Platform, time: Timestamp, method: String, authority: String, path: String,
        requestHeaders: [PushHeader], requestBody: [UInt8], status: Int, responseHeaders: [PushHeader],
        responseBody: [UInt8]
    ) {
        self.service = service
        self.time = time
        self.method = method
        self.authority = authority
        self.path = path
        self.requestHeaders = requestHeaders
        self.requestBody = requestBody
        self.status = status
        self.responseHeaders = responseHeaders
        self.responseBody = responseBody
    }
}
