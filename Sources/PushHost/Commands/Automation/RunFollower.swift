import PushCore

/// Waits for the end of a run in a server.
struct RunFollower: Sendable {
    let client: ManagementClient
    /// Told how far it is.
    let progress: @Sendable (String) -> Void

    private let clock = SystemClock()
    private static let shortestPause: Duration = .milliseconds(50)
    private static let longestPause: Duration = .seconds(1)

    init(client: ManagementClient, progress: @escaping @Sendable (String) -> Void) {
        (self.client, self.progress) = (client, progress)
    }

    /// The run when it has ended. Throws `cancelled` where the task is: the run goes on.
    func follow(_ id: String) async throws(PushError) -> JSON {
        var pause = Self.shortestPause
        while true {
            let run = try await client.get(ManagementClient.path("runs", id))
            let state = run["state"]?.string.flatMap(RunRecord.State.init(rawValue:))
            guard let state, !state.isFinal else { return run }
            let last = run["steps"]?.array?.last?["name"]?.string.map { "  after \($0)" } ?? ""
            progress("\(id)  \(state.rawValue)\(last)")
            do {
                try await clock.sleep(until: clock.now + pause)
            } catch {
                throw PushError("cancelled", "the wait for \(id) was interrupted", hint: "it goes on: pushhost runs show \(id)")
            }
            pause = min(pause * 2, Self.longestPause)
        }
    }
}
