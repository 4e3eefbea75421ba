import HubWire
import PushCore

extension RemoteNotificationHub {
    /// Throws `target.unsupported` where the hub is no PushHost.
    package func trace(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer {
        guard options.isPushHost else {
            throw PushError(
                "target.unsupported", "\(address.host) does not tell why a device shows a notification",
                hint: "a PushHost does: Azure tells how many devices ended how, which push.outcome reads")
        }
        try await options.settle()
        // One that was sent platform by platform has an id of each: a device is another platform's in all but one.
        var answers: [TraceAnswer] = []
        for id in question.notification.split(separator: Self.separator).map(String.init) {
            answers.append(try await answer(TraceQuestion(notification: id, device: question.device)))
        }
        guard let first = answers.first else { throw unreadable("is no trace") }
        var told = answers.first { $0.traces.contains { $0.cause != .wrongPlatform } } ?? first
        told.counts = answers.flatMap(\.counts)
        return told
    }

    private func answer(_ question: TraceQuestion) async throws(PushError) -> TraceAnswer {
        let query = question.device.map { "?device=\(PercentEncoding.encode($0))" } ?? ""
        let json = try await details("notifications/\(PercentEncoding.encode(question.notification))/trace", query)
        guard let answer = TraceAnswer(json) else { throw unreadable("is no trace") }
        return answer
    }
}
