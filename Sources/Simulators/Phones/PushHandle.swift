/// The handle at which a push service reaches an app.
struct PushHandle: Sendable {
    /// The handle that the service issued to the app: for a browser, its PushSubscription as JSON.
    var text: String
    /// The service's key for it: a browser's endpoint, otherwise the text.
    var address: String
}
