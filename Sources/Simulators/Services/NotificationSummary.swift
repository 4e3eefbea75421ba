import HTTPTypes

/// Summary of a notification request and its response.
package struct NotificationSummary: Sendable, Equatable {
    /// Device token, registration token, channel URI or endpoint, as in the request; for FCM also an installation id, `/topics/<topic>` or
    /// a condition. `nil` if the request has none.
    package var handle: String?
    /// The service's reason string; `nil` if the notification was accepted.
    package var reason: String?
    /// The id that the service gave the push.
    package var push: String?
}
