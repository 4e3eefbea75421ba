/// Which of the tutorials' app backends a path is served as: what a send without a body does, and what registering stores.
package enum BackendVariant: String, Sendable, CaseIterable {
    /// "Hello, USER", as each platform takes it.
    case notifyUsers = "notify-users"
    /// The same as a template notification, for the templates that registering stores.
    case crossPlatform = "cross-platform"
    /// A confirmation that the app fetches.
    case securePush = "secure-push"
}
