import PushModel
import PushRuntime

/// Polls a run on a server until it ends.
struct RunFollower: Sendable {
    let client: ManagementClient
    /// Receives a line of progress after each poll.
    let progress: @Sendable (String) -> Void

    private let clock = SystemClock()
    private static let shortestPause: Duration = .milliseconds(50)
    private static let longestPause: Duration = .seconds(1)

    init(client: ManagementClient, progress: @escaping @Sendable (String) -> Void) {
        (self.client, self.progress) = (client, progress)
    }

    /// Returns the run once it has ended. Throws `cancelled` if the task is cancelled; the run continues.
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
                throw PushError("cancelled", "stopped waiting for \(id); the run continues", hint: "see pushhost runs show \(id)")
            }
            pause = min(pause * 2, Self.longestPause)
        }
    }
}
