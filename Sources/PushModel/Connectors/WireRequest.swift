/// A request as sent to a push service.
package struct WireRequest: Sendable, Equatable {
    package var method: String
    package var authority: String
    package var path: String
    package var headers: [PushHeader]
    package var body: [UInt8]

    package init(method: String, authority: String, path: String, headers: [PushHeader], body: [UInt8]) {
        self.method = method
        self.authority = authority
        self.path = path
        self.headers = headers
        self.body = body
    }
}
