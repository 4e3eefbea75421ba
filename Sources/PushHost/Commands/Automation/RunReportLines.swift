import PushModel
import PushRuntime

/// Formats runs of flows as text.
struct RunReportLines {
    let palette: Palette

    func table(_ runs: [JSON]) -> [String] {
        var table = TextTable("RUN", "FLOW", "VERSION", "STATE", "STARTED", "DURATION", "TRIGGER")
        for run in runs {
            let began = run["startedAt"] == nil ? run.timeText("queuedAt") : run.timeText("startedAt")
            table.add(
                run["runId"]?.string ?? "", run["flow"]?.string ?? "", run["version"]?.string ?? "", run["state"]?.string ?? "", began,
                Self.duration(run),
                Self.words(run["trigger"]))
        }
        return table.lines(palette)
    }

    func lines(_ run: JSON) -> [String] {
        func line(_ label: String, _ text: String) -> String { "  \(label.padded(to: 11))\(text)".printable }
        let state = run["state"]?.string ?? ""
        var lines = ["\(palette.bold((run["runId"]?.string ?? "").printable))  \((run["flow"]?.string ?? "").printable)  \(mark(state))"]
        let version = run["version"]?.string.map { "  version \($0)" } ?? ""
        lines.append(line("script", (run["script"]?.string ?? "") + version))
        lines.append(line("trigger", Self.words(run["trigger"])))
        let arguments = run["arguments"]?.pairs ?? ""
        let secrets = (run["secretArguments"]?.array ?? []).compactMap(\.string).map { "\($0)=***" }
        let given = ([arguments] + secrets).filter { !$0.isEmpty }.joined(separator: " ")
        if !given.isEmpty { lines.append(line("arguments", given)) }
        lines.append(line("queued", run.timeText("queuedAt")))
        if run["startedAt"] != nil {
            let attempts = run["attempts"]?.int ?? 1
            lines.append(line("started", run.timeText("startedAt") + (attempts > 1 ? ", attempt \(attempts)" : "")))
        }
        if run["endedAt"] != nil { lines.append(line("ended", "\(run.timeText("endedAt")), after \(Self.duration(run))")) }
        lines += steps(run) + log(run)
        if let omitted = run["omitted"]?.int { lines.append(line("omitted", "\(omitted) steps and log lines beyond the limit")) }
        let sent = (run["notifications"]?.array ?? []).compactMap(\.string)
        if !sent.isEmpty { lines.append(line("sent", sent.joined(separator: ", "))) }
        if let result = run["result"] { lines.append(line("result", result.text())) }
        if let failure = run["failure"] {
            let place = failure["location"]?.string.map { "\($0): " } ?? ""
            lines.append(
                "  \(palette.red("error[\((failure["code"]?.string ?? "").printable)]")): \((place + (failure["message"]?.string ?? "")).printable)"
            )
            if let hint = failure["hint"]?.string { lines.append(line("help", hint)) }
        }
        return lines
    }

    private func steps(_ run: JSON) -> [String] {
        (run["steps"]?.array ?? []).map { step in
            let glyph =
                switch step["status"]?.string {
                case "passed": palette.green("✓")
                case "failed": palette.red("✗")
                default: palette.dim("○")
                }
            let indent = String(repeating: "  ", count: step["depth"]?.int ?? 0)
            let sent = (step["notifications"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
            let reason = step["reason"]?.string.map { "  \($0)" } ?? ""
            let words = (step["name"]?.string ?? "") + (sent.isEmpty ? "" : "  \(sent)") + reason
            let took = Self.duration(from: step["began"], to: step["ended"])
            return "  \(indent)\(glyph) \(words.printable)\(palette.dim("  at \(step.timeText("began")), \(took)"))"
        }
    }

    private func log(_ run: JSON) -> [String] {
        (run["log"]?.array ?? []).map { line in
            let (level, text) = (line["level"]?.string ?? "", line["text"]?.string ?? "")
            let word = level == "info" ? "" : "\(level) "
            return "    \(palette.dim(line.timeText("time")))  \(word)\(text.printable)"
        }
    }

    private func mark(_ state: String) -> String {
        switch RunRecord.State(rawValue: state) {
        case .completed: palette.green(state)
        case .failed, .interrupted: palette.red(state)
        case .cancelled, .skipped: palette.yellow(state)
        default: state
        }
    }

    /// What started a run, such as `schedule morning at 2026-01-05T09:00:00Z`.
    private static func words(_ trigger: JSON?) -> String { trigger.flatMap { RunTrigger(json: $0) }?.words ?? "" }

    private static func duration(_ run: JSON) -> String { duration(from: run["startedAt"], to: run["endedAt"]) }

    private static func duration(from began: JSON?, to ended: JSON?) -> String {
        guard let began = began?.string.flatMap({ Timestamp(iso8601: $0) }),
            let ended = ended?.string.flatMap({ Timestamp(iso8601: $0) })
        else { return "" }
        return (ended - began).short
    }
}
