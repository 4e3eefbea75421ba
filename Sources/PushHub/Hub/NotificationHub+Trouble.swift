import PushModel

extension NotificationHub {
    /// Current issues by platform; empty if there are none.
    package func troubles() -> [DeliveryIssue] { pipeline.troubles() }
}
