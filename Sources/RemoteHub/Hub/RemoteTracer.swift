import HubWire
import NIOHTTP1
import PushModel

/// Traces of devices by a PushHost on another machine.
struct RemoteTracer: Sendable {
    let hub: HubClient
    let options: RemoteNotificationHub.Options

    /// Throws `target.unsupported` if the hub is not a PushHost.
    func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer {
        guard options.isPushHost else {
            throw PushError(
                "target.unsupported", "\(hub.address.host) cannot explain why a device did or did not show a notification",
                hint: "use a PushHost; Azure reports only counts by outcome, see push.outcome")
        }
        try await options.settle()
        // A notification sent platform by platform has one id per platform. In all but one, the device has the wrong platform.
        var answers: [TraceAnswer] = []
        for id in NotificationParts.ids(of: question.notification) {
            answers.append(try await answer(TraceQuestion(notification: id, device: question.device)))
        }
        guard let first = answers.first else { throw hub.unreadable("is not a trace") }
        var combined = answers.first { $0.traces.contains { $0.cause != .wrongPlatform } } ?? first
        combined.counts = answers.flatMap(\.counts)
        return combined
    }

    private func answer(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer {
        let query = question.device.map { "?device=\(PercentEncoding.encode($0))" } ?? ""
        let json = try await hub.json("notifications/\(PercentEncoding.encode(question.notification))/trace", query)
        guard let answer = TraceJSON.answer(json) else { throw hub.unreadable("is not a trace") }
        return answer
    }
}
