/// Where a push service finds an app.
struct PushHandle: Sendable {
    /// What the service gives the app, and the app its backend. A browser's is its PushSubscription as JSON.
    var text: String
    /// What the service knows it by: a browser's endpoint, everybody else's text.
    var address: String
}
