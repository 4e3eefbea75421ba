/// A push service's response.
package struct WireResponse: Sendable, Equatable {
    /// 0 if there was no response.
    package var status: Int
    package var headers: [PushHeader]
    package var body: [UInt8]

    package init(status: Int, headers: [PushHeader], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
