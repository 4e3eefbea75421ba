import PushModel

/// The errors of notifications that cannot be cancelled.
enum CancellationRefusal {
    static func ended(_ id: String, _ state: NotificationOutcome.State) -> PushError {
        PushError(
            "notification.not_found", "notification \(id) has already ended (\(state.rawValue)); nothing was cancelled",
            hint: state == .noTargetFound ? "it reached no devices" : "pushes that were sent cannot be recalled", status: 404)
    }

    static func isTest(_ id: String) -> PushError {
        PushError(
            "notification.not_found", "\(id) is a test send and cannot be cancelled",
            hint: "stop the command or request that waits for it", status: 404)
    }
}
