import PushModel
import PushServer

/// Checks the flows of a running server.
struct FlowChecks {
    let settings: ServerSettings

    private static let name = "flows"
    private static let timeout = Duration.seconds(5)

    func checks() async -> [Check] {
        let answer = try? await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
            try await client.get(ManagementClient.path("flows"), timeout: Self.timeout)
        }
        guard let flows = answer?["items"]?.array, !flows.isEmpty else { return [] }
        let found = flows.compactMap { flow -> Check? in
            guard let issue = flow["trouble"]?.string else { return nil }
            return .wrong(
                Self.name, "\(flow["flow"]?.string ?? "") cannot start: \(issue)",
                "fix \(flow["script"]?.string ?? "its script") or its settings, then check with pushhost flows")
        }
        return found.isEmpty ? [.well(Self.name, "\(flows.count) can start")] : found
    }
}
