/// Finds the HTTP routes of plugins below `/plugins/NAME`.
package protocol PluginRouting: Sendable {
    /// Finds the route for a request. The returned route belongs to one version of the plugin, even if another is loaded in the meantime.
    ///
    /// - Parameters:
    ///   - plugin: the first path segment after `/plugins`, percent-decoded.
    ///   - path: the remaining segments, percent-decoded; a trailing slash gives an empty one.
    func route(plugin: String, method: String, path: [String]) -> PluginRouteMatch
}

package enum PluginRouteMatch: Sendable {
    case found(any PluginRoute)
    /// No active plugin with this name has a route with this path.
    case notFound
    /// The path exists, but only for these methods.
    case otherMethods([String])
}

/// A plugin's route that matches a request.
package protocol PluginRoute: Sendable {
    /// The name in log lines: `greet GET /greetings/{name}`.
    var name: String { get }
    /// The plugin's version.
    var version: String { get }
    var authentication: RouteAuthentication { get }
    /// Maximum size of a request body, in bytes.
    var bodyLimit: Int { get }
    /// The secret that signs webhooks; nil if there is none. Read for each request, because it can change.
    func webhookSecret() -> Secret?
    /// Runs the plugin's function. Throws `request.parameter` (400) for invalid parameters, and `route.failed` (500) if the function fails;
    /// the function's own error appears only in the log.
    func answer(_ request: PluginRequest) async throws(PushError) -> PluginResponse
}

/// The authentication that a route requires.
package enum RouteAuthentication: Sendable, Equatable {
    /// None. Must be declared explicitly.
    case open
    /// A user of the app backend, by HTTP Basic or a session token.
    case account
    /// A key of the default hub or of the namespace with this right.
    case sas(SASRight)
    /// A body signed with the named secret.
    case webhook(secret: String, scheme: WebhookScheme)
}

/// How a webhook's body is signed.
package enum WebhookScheme: String, Sendable, CaseIterable {
    /// `PushHost-Signature: t=SECONDS,v1=HEX`, an HMAC-SHA256 over `SECONDS.BODY`.
    case pushhost
    /// Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    case standard
    /// `X-Hub-Signature-256: sha256=HEX` over the body, with `X-GitHub-Delivery`.
    case github
}

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
