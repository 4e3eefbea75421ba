/// The tutorial that a path follows. It determines what a send without a body does and what a registration stores.
package enum TutorialVariant: String, Sendable, CaseIterable {
    /// A native "Hello, USER" for each platform.
    case notifyUsers = "notify-users"
    /// "Hello, USER" as a template notification, for the templates that registration stores.
    case crossPlatform = "cross-platform"
    /// A confirmation whose content the app fetches.
    case securePush = "secure-push"
}
