/// The limits of the simulated push service.
package struct WebPushSimulatorSettings: Sendable {
    /// Maximum messages per minute and subscription; then 429.
    package var messagesPerMinutePerSubscription = 600

    package init() {}
}
