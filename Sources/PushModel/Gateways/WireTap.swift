/// A record of all requests and responses exchanged with push services, for `push.wire` and `--trace`.
package protocol WireTap: Sendable {
    /// The exchanges so far with `service`, or with all services if nil; oldest first.
    func exchanges(with service: Platform?) async throws(PushError) -> [WireExchange]
}

/// One request and its response, byte by byte. Credentials are masked with a fixed length.
package struct WireExchange: Sendable, Equatable {
    package var service: Platform
    package var time: Timestamp
    package var method: String
    package var authority: String
    package var path: String
    package var requestHeaders: [PushHeader]
    package var requestBody: [UInt8]
    /// 0 if there was no response.
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
