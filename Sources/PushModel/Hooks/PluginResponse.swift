/// A plugin's response.
package struct PluginResponse: Sendable, Equatable {
    package var status: Int
    /// Checked: names are tokens, values contain no control characters, and none is reserved for the server.
    package var headers: [PushHeader]
    package var body: [UInt8]

    package init(status: Int, headers: [PushHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
