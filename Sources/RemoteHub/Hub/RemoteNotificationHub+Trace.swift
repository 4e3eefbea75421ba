import HubWire
import PushModel

extension RemoteNotificationHub {
    /// Throws `target.unsupported` if the hub is not a PushHost.
    package func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer {
        guard options.isPushHost else {
            throw PushError(
                "target.unsupported", "\(address.host) cannot explain why a device did or did not show a notification",
                hint: "use a PushHost; Azure reports only counts by outcome, see push.outcome")
        }
        try await options.settle()
        // A notification sent platform by platform has one id per platform. In all but one, the device has the wrong platform.
        var answers: [TraceAnswer] = []
        for id in question.notification.split(separator: Self.separator).map(String.init) {
            answers.append(try await answer(TraceQuestion(notification: id, device: question.device)))
        }
        guard let first = answers.first else { throw unreadable("is not a trace") }
        var told = answers.first { $0.traces.contains { $0.cause != .wrongPlatform } } ?? first
        told.counts = answers.flatMap(\.counts)
        return told
    }

    private func answer(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer {
        let query = question.device.map { "?device=\(PercentEncoding.encode($0))" } ?? ""
        let json = try await details("notifications/\(PercentEncoding.encode(question.notification))/trace", query)
        guard let answer = TraceAnswer(json) else { throw unreadable("is not a trace") }
        return answer
    }
}
