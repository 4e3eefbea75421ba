package import PushModel

/// Counts the devices that a send would reach now, by platform.
package protocol ReachCounting: Sendable {
    /// Nil if the devices are at most `number`. The devices of a broadcast channel are unknown, and count as more than any number.
    func reach(of request: NotificationRequest, beyond number: Int) async -> AudienceReach?

    func reach(of request: NotificationRequest) async -> AudienceReach
}
