import PushModel
import PushServer

/// Checks the plugins of a running server.
struct PluginChecks {
    let settings: ServerSettings

    private static let name = "plugins"
    private static let timeout = Duration.seconds(5)

    func checks() async -> [Check] {
        let folder = settings.data
        let answer = try? await ManagementClient.with(.folder(folder)) { client throws(PushError) in
            try await client.get(ManagementClient.path("plugins"), timeout: Self.timeout)
        }
        guard let plugins = answer?["plugins"]?.array else { return [] }
        let list = answer?["list"]?.string
        guard !plugins.isEmpty || list != nil else { return [] }
        let broken = list.map { [Check.wrong(Self.name, "the list cannot be read; the previous one stays in use: \($0)", "fix it")] } ?? []
        let found = broken + plugins.flatMap(Self.check)
        let live = plugins.count { $0["live"] != nil }
        return found.isEmpty ? [.well(Self.name, "\(live) live, no issues")] : found
    }

    /// When a hook that is suspended after failures is called again.
    static func words(_ open: JSON) -> String {
        open["due"] == true ? "is retried with the next call" : "is suspended until \(open["until"]?.string ?? "")"
    }

    static func check(_ plugin: JSON) -> [Check] {
        let name = plugin["name"]?.string ?? ""
        var found: [Check] = []
        let withheld = (plugin["withheld"]?.array ?? []).compactMap(\.string)
        if let refused = plugin["refused"] {
            let stays =
                plugin["live"]?["version"]?.string.map { "; \($0) stays live" }
                ?? (withheld.isEmpty ? "" : "; calls to \(withheld.joined(separator: ", ")) are rejected")
            found.append(
                .wrong(
                    Self.name, "\(name) was rejected: \(refused["message"]?.string ?? "")\(stays)",
                    "pushhost plugin \(refused["code"] == "plugin.spec" ? "test" : "check") \(name) shows more"))
        } else if !withheld.isEmpty {
            found.append(
                .wrong(
                    Self.name, "\(name) runs its specs; calls to \(withheld.joined(separator: ", ")) are rejected meanwhile",
                    "wait for its specs; see the result with pushhost plugin list"))
        }
        for open in plugin["live"]?["open"]?.array ?? [] {
            found.append(
                .wrong(
                    Self.name,
                    "\(name): \(open["hook"]?.string ?? "") keeps failing and \(Self.words(open))",
                    "see its last error with pushhost plugin list; return to the previous version with pushhost plugin rollback \(name)"))
        }
        for capability in (plugin["live"]?["missing"]?.array ?? []).compactMap(\.string) {
            found.append(
                .wrong(
                    Self.name, "\(name) needs \(capability), which is not granted", "pushhost plugin grant \(name) \(capability)"))
        }
        return found
    }
}
