import PushModel
import PushRuntime

/// Prints why devices did or did not show a notification.
struct TraceReport {
    let palette: Palette

    func lines(_ answer: TraceAnswer) -> [String] {
        guard answer.traces.isEmpty else {
            var lines = answer.traces.enumerated().flatMap { index, trace in
                (index == 0 ? [] : [""]) + self.lines(trace, answer)
            }
            if answer.furtherDevices > 0 {
                lines += ["", palette.dim("and \(answer.furtherDevices) more devices: name one with --device")]
            }
            return lines
        }
        return summary(answer)
    }

    // MARK: - One device

    private func lines(_ trace: DeliveryTrace, _ answer: TraceAnswer) -> [String] {
        let platform = trace.platform.map { " (\($0.displayName))" } ?? ""
        let head = "\(answer.notification) → \(trace.device)\(platform)".printable
        let steps = trace.lines.map(Self.word)
        let width = steps.map(\.count).max() ?? 0
        var lines = ["\(head)  \(badge(trace.cause.result))"]
        var day = ""
        var last: Timestamp?
        for (line, step) in zip(trace.lines, steps) {
            let time = line.time ?? last
            last = time
            let today = time.map { String($0.iso8601(fraction: false).prefix(10)) } ?? ""
            if !today.isEmpty, today != day {
                day = today
                lines.append(palette.dim("  \(day)"))
            }
            let clock = line.time.map(\.timeOfDay) ?? String(repeating: " ", count: 12)
            let mark = line.isGood.map { $0 ? palette.green("✓") : palette.red("✗") } ?? palette.dim("·")
            let cause = line.isCause ? palette.bold("     ← cause") : ""
            lines.append("  \(clock)  \(mark) \(step.padded(to: width))  \(line.text.printable)\(cause)")
        }
        lines.append("  \(palette.bold("reason"))  \(trace.sentence.printable)")
        if trace.cause != .shown { lines.append("  \(palette.bold("fix"))     \(trace.cause.advice)") }
        return lines
    }

    private static func word(_ line: DeliveryTrace.Line) -> String { line.step.rawValue }

    private func badge(_ result: TraceCause.Result) -> String {
        switch result {
        case .shown: palette.green("SHOWN")
        case .notShown: palette.red("NOT SHOWN")
        case .pending: palette.yellow("NOT YET")
        case .unknown: palette.yellow("NOT KNOWN")
        }
    }

    // MARK: - All devices

    private func summary(_ answer: TraceAnswer) -> [String] {
        let audience = answer.tags.map { "to \($0)" } ?? "to everyone, or directly to devices"
        var lines = ["\(answer.notification)  \(audience)  \(answer.state.rawValue)".printable]
        if answer.counts.isEmpty {
            lines.append(answer.state.isFinal ? "  the notification reached no devices" : "  no device has a result yet")
        }
        for count in answer.counts {
            let devices = "\(count.devices) device\(count.devices == 1 ? "" : "s")"
            lines.append("  \(badge(count.cause.result))  \(devices)  \(palette.bold(count.cause.rawValue))")
            lines.append("    \(count.sentence.printable)")
        }
        lines += answer.nearMisses.map { "  similar   \($0.printable)" }
        if let example = answer.counts.first(where: { $0.cause.result != .shown && !$0.example.isEmpty })?.example {
            lines.append(palette.dim("  one device: pushhost trace \(answer.notification) --device \(example)".printable))
        }
        return lines
    }
}
