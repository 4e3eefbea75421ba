/// The routes of plugins below `/plugins/NAME`, as the server finds them.
package protocol PluginRouting: Sendable {
    /// What answers a request. A route that was found stays the same version's, whatever is loaded meanwhile.
    ///
    /// - Parameters:
    ///   - plugin: the first part of the path behind `/plugins`, percent-decoded.
    ///   - path: the parts behind it, percent-decoded; a slash at the end gives an empty one.
    func route(plugin: String, method: String, path: [String]) -> PluginRouteMatch
}

package enum PluginRouteMatch: Sendable {
    case found(any PluginRoute)
    /// No live plugin of that name has a route with that path.
    case notFound
    /// The path is there, for other methods.
    case otherMethods([String])
}

/// A route of a plugin that a request has met.
package protocol PluginRoute: Sendable {
    /// For lines of the log: `greet GET /greetings/{name}`.
    var name: String { get }
    /// Of the version that answers.
    var version: String { get }
    var authentication: RouteAuthentication { get }
    /// Most bytes of a body.
    var bodyLimit: Int { get }
    /// The secret that a webhook is signed with; nil where there is none. Read for each request: it may be changed.
    func webhookSecret() -> Secret?
    /// Runs the plugin's function. Throws `request.parameter` (400) for what the declared parameters do not take, and `route.failed`
    /// (500) when the function fails, whose own error is in the log alone.
    func answer(_ request: PluginRequest) async throws(PushError) -> PluginAnswer
}

/// Who may call a route.
package enum RouteAuthentication: Sendable, Equatable {
    /// Anybody: only by the explicit word.
    case open
    /// A user of the app backend, by HTTP Basic or a session's token.
    case account
    /// The holder of a key of the default hub, or of the namespace, with that right.
    case sas(SASRight)
    /// Whoever knows the secret of that name: the body is signed.
    case webhook(secret: String, scheme: WebhookScheme)
}

/// A right of a key of a hub, as Azure names them.
package enum SASRight: String, Sendable, CaseIterable {
    case listen, send, manage
}

/// How a webhook is signed.
package enum WebhookScheme: String, Sendable, CaseIterable {
    /// `PushHost-Signature: t=SECONDS,v1=HEX`, an HMAC-SHA256 over `SECONDS.BODY`.
    case pushhost
    /// Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    case standard
    /// `X-Hub-Signature-256: sha256=HEX` over the body, with `X-GitHub-Delivery`.
    case github
}

/// A request to a plugin's route that was let in.
package struct PluginRequest: Sendable {
    package var method: String
    /// Below `/plugins/NAME`, percent-decoded.
    package var path: [String]
    /// Percent-decoded, in order.
    package var query: [(name: String, value: String)]
    /// By their names in small letters; several of one name are joined by commas.
    package var headers: [String: String]
    package var body: [UInt8]
    /// Who is logged in.
    package var username: String?
    /// What a webhook calls the message.
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

/// What a plugin answers.
package struct PluginAnswer: Sendable, Equatable {
    package var status: Int
    /// Checked: names are tokens, values have no control characters, and none is the server's own to say.
    package var headers: [PushHeader]
    package var body: [UInt8]

    package init(status: Int, headers: [PushHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
