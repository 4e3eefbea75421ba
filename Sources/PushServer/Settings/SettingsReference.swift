/// Generates docs/reference/settings.md, the reference of all server settings.
package enum SettingsReference {
    package static var text: String {
        var lines = [
            "# Settings of the server", "",
            "Generated from the program by `make docs`.", "",
            "`pushhost serve` reads `pushhost.yaml` in the working directory, or the file given with `--config`. Environment variables "
                + "override the file, and command line options override both. A dot in a name is a level in the file:", "",
            "```yaml", "listen:", "  port: 8080", "  tls_port: none", "data: /var/lib/pushhost", "```", "",
            "Invalid settings are reported before anything is opened: every error, with its line.", "",
            "On SIGHUP the file is read again. Settings with a tick are applied at once; the log names others that need a restart.", "",
            "| setting | environment variable | value | default | live | description |", "|---|---|---|---|---|---|",
        ]
        for setting in ServerSettings.all {
            let standard = setting.standard.map { "`\($0)`" } ?? ""
            lines.append(
                "| `\(setting.name)` | `\(setting.environmentName)` | \(setting.form) | \(standard) | \(setting.isReloadable ? "✓" : "") | \(setting.explanation) |"
            )
        }
        lines += [
            "", "## Flows", "", "A list under `flows:`, with one entry per [flow](../how-to/automation.md) that the server runs:", "",
            "| key | value | default | description |", "|---|---|---|---|",
        ]
        lines += FlowKey.ofFlow.map(row)
        lines += ["", "A schedule in a list has:", "", "| key | value | default | description |", "|---|---|---|---|"]
        lines += FlowKey.ofSchedule.map(row)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func row(_ key: FlowKey) -> String {
        "| `\(key.name)` | \(key.form) | \(key.standard.isEmpty ? "required" : key.standard) | \(key.explanation) |"
    }
}
