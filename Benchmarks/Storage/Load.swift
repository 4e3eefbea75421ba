import PushModel

/// Writers that each send one notification after the other, as soon as the one before is accepted.
struct Load {
    /// Sends the notification with this number; numbers start at 1 and are used once.
    typealias Target = @Sendable (Int) async throws -> Void

    var writers: Int
    var total: Int

    /// Accepted notifications per second.
    func rate(_ target: @escaping Target) async throws -> Double {
        let each = total / writers
        let time = try await ContinuousClock().measure {
            try await withThrowingTaskGroup { group in
                for writer in 0..<writers {
                    group.addTask {
                        for turn in 0..<each { try await target(1 + turn * writers + writer) }
                    }
                }
                try await group.waitForAll()
            }
        }
        return Double(each * writers) / (time / .seconds(1))
    }

    static let tags = "username:alice && !muted"
    static let payload = """
        {"aps":{"alert":{"title":"Order 4711","body":"Your parcel is on its way and will arrive today between 10 and 12"},"badge":1},\
        "data":{"order":"4711","kind":"shipping"}}
        """

    static func request() throws -> NotificationRequest {
        NotificationRequest(
            audience: .expression(try TagExpression(parsing: tags)), content: .native([.apns: NativePayload(body: Array(payload.utf8))]))
    }
}
