/// What the service bears.
package struct WebPushSimulatorSettings: Sendable {
    /// Messages per minute and subscription before 429.
    package var messagesPerMinutePerSubscription = 600

    package init() {}
}
