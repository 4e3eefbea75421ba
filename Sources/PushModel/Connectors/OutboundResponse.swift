/// The response to an HTTP request of a plugin.
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
