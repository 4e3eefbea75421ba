/// docs/reference/settings.md: everything that `pushhost serve` can be told.
enum SettingsReference {
    static var text: String {
        var lines = [
            "# Settings of the server", "",
            "Made from the descriptions in the program: `make docs` writes it anew.", "",
            "`pushhost serve` reads `pushhost.yaml` of the folder it is started in, or the file of `--config`. A variable of the "
                + "environment wins over the file, an option of the command line over both. A dot in a name is a level in the file:", "",
            "```yaml", "listen:", "  port: 8080", "  tls_port: none", "data: /var/lib/pushhost", "```", "",
            "What is wrong is said before anything is opened: every fault, each with its line.", "",
            "At SIGHUP the file is read again. Settings with a tick are applied then; the log names others that have changed.", "",
            "| setting | in the environment | takes | default | live | |", "|---|---|---|---|---|---|",
        ]
        for setting in ServerSettings.all {
            let standard = setting.standard.map { "`\($0)`" } ?? ""
            lines.append(
                "| `\(setting.name)` | `\(setting.environmentName)` | \(setting.form) | \(standard) | \(setting.isLive ? "✓" : "") | \(setting.explanation) |"
            )
        }
        lines += [
            "", "## Flows", "", "A list under `flows:`, one for each [flow](../automation.md) that the server runs:", "",
            "| key | takes | default | |", "|---|---|---|---|",
        ]
        lines += FlowKey.ofFlow.map(row)
        lines += ["", "A schedule in a list has:", "", "| key | takes | default | |", "|---|---|---|---|"]
        lines += FlowKey.ofSchedule.map(row)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func row(_ key: FlowKey) -> String {
        "| `\(key.name)` | \(key.form) | \(key.standard.isEmpty ? "must be given" : key.standard) | \(key.explanation) |"
    }
}
