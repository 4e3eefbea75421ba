/// An authenticated request to a plugin's route.
package struct PluginRequest: Sendable {
    package var method: String
    /// The path below `/plugins/NAME`, percent-decoded.
    package var path: [String]
    /// The query parameters, percent-decoded, in order.
    package var query: [(name: String, value: String)]
    /// Headers by lower-case name; repeated headers are joined with commas.
    package var headers: [String: String]
    package var body: [UInt8]
    /// The authenticated user, if any.
    package var username: String?
    /// The webhook's id for this message.
    package var deliveryID: String?

    package init(
        method: String, path: [String], query: [(name: String, value: String)] = [], headers: [String: String] = [:], body: [UInt8] = [],
        username: String? = nil, deliveryID: String? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.username = username
        self.deliveryID = deliveryID
    }
}
