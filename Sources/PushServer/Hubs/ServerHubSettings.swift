import PushHub

/// The settings of every hub of a server, from the server's settings.
extension HubSettings {
    /// Maximum number of devices in delivery. Each needs about 1.3 kB for its payload and result.
    private static let concurrentDevices = 200_000

    init(_ server: ServerSettings) {
        self.init(
            acceptance: Acceptance(naming: .unique, refusesLargePayloads: false),
            limits: Limits(
                concurrentNotifications: server.concurrentNotifications, concurrentDevices: Self.concurrentDevices, comparableTags: 2_000),
            dispatch: Dispatch(
                isConcurrent: true, retryWindow: server.delivery.retryWindow, retryJitter: server.isLab ? 0 : 0.25),
            feedback: Feedback(notifiesPruned: server.feedback.webhook != nil, maxRemovedShare: server.feedback.maxRemovedShare),
            retention: Retention(pruned: server.delivery.prunedRetention, plans: server.delivery.planRetention))
    }
}
