import PushCore

/// How the plugins of a server that runs are.
struct PluginChecks {
    let settings: ServerSettings

    private static let name = "plugins"
    private static let patience = Duration.seconds(5)

    func checks() async -> [Check] {
        let folder = settings.data
        let answer = try? await ManagementClient.with(.folder(folder)) { client throws(PushError) in
            try await client.get(ManagementClient.path("plugins"), patience: Self.patience)
        }
        guard let plugins = answer?["plugins"]?.array else { return [] }
        let list = answer?["list"]?.string
        guard !plugins.isEmpty || list != nil else { return [] }
        let broken = list.map { [Check.wrong(Self.name, "the list of plugins cannot be read and stays as it was: \($0)", "mend it")] } ?? []
        let found = broken + plugins.flatMap(Self.check)
        let live = plugins.count { $0["live"] != nil }
        return found.isEmpty ? [.well(Self.name, "\(live) \(live == 1 ? "is" : "are") live, and none is in trouble")] : found
    }

    /// How long a hook is left alone.
    static func words(_ open: JSON) -> String {
        open["due"] == true ? "is tried with the next call" : "is left alone until \(open["until"]?.string ?? "")"
    }

    static func check(_ plugin: JSON) -> [Check] {
        let name = plugin["name"]?.string ?? ""
        var found: [Check] = []
        let withheld = (plugin["withheld"]?.array ?? []).compactMap(\.string)
        if let refused = plugin["refused"] {
            let stays =
                plugin["live"]?["version"]?.string.map { "; \($0) stays live" }
                ?? (withheld.isEmpty ? "" : "; what \(withheld.joined(separator: ", ")) decides about is refused")
            found.append(
                .wrong(
                    Self.name, "\(name) was refused: \(refused["message"]?.string ?? "")\(stays)",
                    "pushhost plugin \(refused["code"] == "plugin.spec" ? "test" : "check") \(name) shows more"))
        } else if !withheld.isEmpty {
            found.append(
                .wrong(
                    Self.name, "\(name) is being tried out; what \(withheld.joined(separator: ", ")) decides about is refused meanwhile",
                    "wait for its specs; pushhost plugin list shows what comes of them"))
        }
        for open in plugin["live"]?["open"]?.array ?? [] {
            found.append(
                .wrong(
                    Self.name,
                    "\(name): \(open["hook"]?.string ?? "") fails again and again, and \(Self.words(open))",
                    "pushhost plugin list shows its last error; pushhost plugin rollback \(name) makes the version before it live"))
        }
        for capability in (plugin["live"]?["missing"]?.array ?? []).compactMap(\.string) {
            found.append(
                .wrong(
                    Self.name, "\(name) needs \(capability), which it was not granted", "pushhost plugin grant \(name) \(capability)"))
        }
        return found
    }
}
