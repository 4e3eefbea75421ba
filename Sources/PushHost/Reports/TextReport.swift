import Bindings
import Lua
import PushHub
import PushModel
import PushRuntime
import Synchronization

/// Prints a run's events as text while it runs.
final class TextReport: Sendable {
    struct Header: Sendable {
        var flow: String
        var target: String
        var seed: UInt64
        var version: String
    }

    private let output: Output
    private let palette: Palette
    private let header: Header?
    private let showsRealTime: Bool
    private let state = Mutex(State())

    private struct State {
        var hasHeader = false
        /// Names of the open steps. The first `announced` of them have a line that says that they started.
        var current: [String] = []
        var announced = 0
        var sends = 0
        var phones: Set<String> = []
        /// Real start times of the open steps, by step id.
        var began: [Int: ContinuousClock.Instant] = [:]
    }

    /// - Parameter header: the header of the run; nil if only events are printed.
    init(output: Output, header: Header?, showsRealTime: Bool = false) {
        self.output = output
        self.header = header
        self.showsRealTime = showsRealTime
        palette = Palette(isOn: output.hasColour)
    }

    func take(_ event: FlowEvent) {
        begin()
        switch event {
        case .stepStarted(let id, _, let name):
            announce()
            state.withLock { state in
                state.current.append(name)
                if showsRealTime { state.began[id] = ContinuousClock().now }
            }
        case .stepEnded(let step):
            state.withLock { state in
                if step.status != .skipped, !state.current.isEmpty { state.current.removeLast() }
                state.announced = min(state.announced, state.current.count)
                state.sends += step.sends.count
            }
            print(step)
        case .sent(let send):
            state.withLock { $0.sends += 1 }
            output.line("  \(glyph(send)) send \(id(send)) to \(send.audience.printable)  \(counts(send))")
            printFaults([send], indent: 6)
        case .completed(let send):
            printFaults([send], indent: 6)
        case .shown(let items):
            printShown(items, indent: 6)
        case .log(let level, let text, _):
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                output.line("  \(mark(level)) \(line.description.printable)")
            }
        case .warning(let warning):
            output.line("\(palette.yellow("warning[\(warning.code)]")): \(warning.message.printable)")
            if let location = warning.location { output.line("  \(location)") }
            for near in warning.near { output.line("  \("similar".padded(to: 10))\(near.printable)") }
        case .core(let event):
            output.line(palette.dim("    \(event.time.timeOfDay)  \(event.area.rawValue.padded(to: 9)) \(event.text.printable)"))
        case .crossed(let exchange):
            print(exchange)
        }
    }

    /// Prints the last line.
    ///
    /// - Parameter isVirtual: whether the duration is virtual time.
    func finish(_ report: FlowReport, verdict: Verdict, isVirtual: Bool) {
        begin()
        var parts = ["1 flow", count(report.steps, "step")]
        if report.expectations.count > 0 {
            let failed = report.expectations.failedCount
            parts.append(count(report.expectations.count, "expectation") + (failed > 0 ? ", \(failed) failed" : ""))
        }
        let phones = state.withLock { $0.phones.count }
        if phones > 0 { parts.append("shown on \(count(phones, "phone"))") }
        parts.append("\(report.sends.delivered) delivered")
        if report.sends.noTargets > 0 {
            // Only a passing run needs the hint how to make it fail.
            parts.append("\(report.sends.noTargets) without target" + (verdict == .pass ? " (--fail-on-no-target fails the run)" : ""))
        }
        parts.append("\(isVirtual ? "virtual" : "took") \((report.ended - report.began).short)")
        let word =
            switch verdict {
            case .pass: palette.green("PASS")
            case .fail: palette.red("FAIL")
            case .error: palette.red("ERROR")
            case .interrupted: palette.yellow("INTERRUPTED")
            }
        output.line("\(word)  \(parts.joined(separator: " · "))")
    }

    enum Verdict { case pass, fail, error, interrupted }

    /// The progress line of a long run.
    func progressLine(seconds: Int) -> String {
        let (step, sends) = state.withLock { ($0.current.last, $0.sends) }
        return "  … \(step.map { "\($0) · " } ?? "")\(count(sends, "send")) · \(seconds) s".printable
    }

    /// Prints the header, once.
    func begin() {
        let isFirst = state.withLock { state in
            defer { state.hasHeader = true }
            return !state.hasHeader
        }
        guard isFirst, let header else { return }
        let left = "\(header.flow) · \(header.target) · seed \(header.seed)".printable
        output.line("\(palette.bold(left.padded(to: 62)))  \(palette.dim("script \(header.version)"))")
    }

    /// Prints the start line of open steps that contain other steps.
    private func announce() {
        let (names, from) = state.withLock { state in
            defer { state.announced = state.current.count }
            return (state.current, state.announced)
        }
        for (depth, name) in names.enumerated().dropFirst(from) {
            output.line("\(String(repeating: "  ", count: depth + 1))\(palette.dim("▸")) \(name.printable)")
        }
    }

    private func print(_ step: FlowStep) {
        let indent = String(repeating: "  ", count: step.depth + 1)
        let glyph =
            switch step.status {
            case .passed: palette.green("✓")
            case .failed: palette.red("✗")
            case .skipped: palette.yellow("–")
            }
        var facts: [String] = []
        if step.registrations > 0 { facts.append(count(step.registrations, "registration")) }
        if step.sends.count == 1, let send = step.sends.first {
            facts.append("\(id(send))  \(counts(send))")
        } else if !step.sends.isEmpty {
            facts.append(summary(step.sends))
        }
        if step.failedExpectations > 0 {
            facts.append("\(step.failedExpectations) of \(count(step.expectations, "expectation")) failed")
        } else if step.expectations > 0 {
            facts.append(count(step.expectations, "expectation"))
        }
        if let reason = step.reason { facts.append("skipped: \(reason)") }
        if let began = state.withLock({ $0.began.removeValue(forKey: step.id) }) {
            facts.append("real \((ContinuousClock().now - began).short)")
        }
        let name = step.name.printable
        output.line("\(indent)\(glyph) \(facts.isEmpty ? name : name.padded(to: 34))  \(facts.joined(separator: " · "))".trimmed)
        printFaults(step.sends, indent: 2 * step.depth + 6)
        printShown(step.shown, indent: 2 * step.depth + 6)
    }

    private func printShown(_ items: [ShownItem], indent: Int) {
        state.withLock { state in state.phones.formUnion(items.map(\.device)) }
        let width = items.prefix(Self.shownAtOnce).map(\.device.count).max() ?? 0
        for item in items.prefix(Self.shownAtOnce) {
            let text = item.text.split(separator: "\n").joined(separator: " — ").printable
            output.line(
                "\(String(repeating: " ", count: indent))\(item.device.printable.padded(to: width))  \(item.platform.phone.padded(to: 8))\(item.locale.printable.padded(to: 6)) \(palette.bold("▌\(text)"))"
            )
        }
        printRest(of: items.count, "message", indent: indent)
    }

    /// Maximum number of lines about devices per step. The JSON report lists all.
    private static let shownAtOnce = ReportDetail.maximumLines

    private func printRest(of total: Int, _ noun: String, indent: Int) {
        guard total > Self.shownAtOnce else { return }
        let margin = String(repeating: " ", count: indent)
        output.line(palette.dim("\(margin)… and \(count(total - Self.shownAtOnce, noun)) more; --json lists all"))
    }

    private func printFaults(_ sends: [FlowSend], indent: Int) {
        let faults = sends.flatMap(\.faults)
        for fault in faults.prefix(Self.shownAtOnce) {
            output.line("\(String(repeating: " ", count: indent))\(palette.red("✗")) \(fault.printable)")
        }
        let margin = String(repeating: " ", count: indent)
        for skip in sends.flatMap(\.skips).prefix(Self.shownAtOnce) {
            let what =
                skip.reason.map { "\(count(skip.count, "device")) skipped: \($0)" }
                ?? "\(count(skip.count, "duplicate")) skipped: the same handle already got it"
            output.line("\(margin)\(palette.yellow("–")) \(what.printable)")
        }
        for notice in sends.flatMap(\.notices).prefix(Self.shownAtOnce) {
            output.line("\(margin)\(palette.yellow("–")) \(notice.printable)")
        }
        printRest(of: faults.count, "device", indent: indent)
    }

    private func print(_ exchange: WireExchange) {
        let margin = "    "
        output.line(
            palette.dim(
                "\(margin)\(exchange.time.timeOfDay)  > \(exchange.request.method) https://\(exchange.request.authority)\(exchange.request.path)"
                    .printable)
        )
        for header in exchange.request.headers { output.line(palette.dim("\(margin)  > \(header.name): \(header.value)".printable)) }
        printBody(exchange.request.body, mark: ">")
        output.line(palette.dim("\(margin)  < \(exchange.response.status == 0 ? "no answer" : String(exchange.response.status))"))
        for header in exchange.response.headers { output.line(palette.dim("\(margin)  < \(header.name): \(header.value)".printable)) }
        printBody(exchange.response.body, mark: "<")
    }

    private func printBody(_ body: [UInt8], mark: String) {
        guard !body.isEmpty else { return }
        let text = String(validating: body, as: UTF8.self) ?? "\(body.count) bytes"
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            output.line(palette.dim("      \(mark) \(line.description.printable)"))
        }
    }

    private func glyph(_ send: FlowSend) -> String {
        // A test send ends in the state `DetailedStateAvailable`.
        let isDone = ["Completed", "DetailedStateAvailable"].contains(send.state)
        return send.scheduledFor != nil || (isDone && send.counts.failed == 0) ? palette.green("✓") : palette.yellow("!")
    }

    private func counts(_ send: FlowSend) -> String {
        // The plan below shows the number of devices.
        if send.id.hasPrefix(PlanningHub.prefix) { return "planned" }
        if let dueTime = send.scheduledFor { return "scheduled for \(dueTime.iso8601(fraction: false))" }
        switch send.state {
        case "NoTargetFound": return "no target found"
        case "Enqueued", "Processing":
            return send.counts.total == 0 ? "accepted · outcome not known yet" : "\(send.counts.sent) sent so far"
        default: return "\(send.counts.sent) of \(send.counts.total) sent · \(send.counts.failed) failed"
        }
    }

    /// The id of a send; of one that was split into several notifications, the first id and the number of others.
    private func id(_ send: FlowSend) -> String {
        let parts = send.id.split(separator: ",")
        return parts.count > 1 ? "\(parts[0]) and \(parts.count - 1) more" : send.id
    }

    /// `3 sends, 4 of 5 sent, 1 scheduled`
    private func summary(_ sends: [FlowSend]) -> String {
        let scheduled = sends.count { $0.scheduledFor != nil }
        var facts = [count(sends.count, "send")]
        let (sent, total) = sends.reduce(into: (0, 0)) { $0 = ($0.0 + $1.counts.sent, $0.1 + $1.counts.total) }
        if scheduled < sends.count { facts.append("\(sent) of \(total) sent") }
        if scheduled > 0 { facts.append("\(scheduled == sends.count ? "all" : "\(scheduled)") scheduled") }
        return facts.joined(separator: ", ")
    }

    private func mark(_ level: String) -> String {
        switch level {
        case "warn": palette.yellow("│ warn ")
        case "error": palette.red("│ error")
        default: palette.dim("│")
        }
    }

    private func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

extension Platform {
    fileprivate var phone: String {
        switch self {
        case .apns: "iPhone"
        case .fcmV1, .gcm: "Android"
        case .wns: "Windows"
        case .browser: "Browser"
        case .mpns, .adm, .baidu, .xiaomi: displayName
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
