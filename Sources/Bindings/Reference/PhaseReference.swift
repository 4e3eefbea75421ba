import PushModel

/// Generates docs/reference/phases.md: when plugins are called, their arguments, allowed answers and allowed calls.
package struct PhaseReference {
    private let registry: BindingRegistry

    package init(_ registry: BindingRegistry) { self.registry = registry }

    package struct Entry: Sendable {
        package var phase: ScriptPhase
        /// When the phase occurs.
        package var summary: String
        /// The type of the function's argument; nil if it has none.
        package var argument: TypeDescription?
        var answer: Binding?
    }

    package static let entries: [Entry] =
        HookPhase.allCases.flatMap { hook -> [Entry] in
            let entry = Entry(
                phase: .hook(hook), summary: hook.summary, argument: argument(of: hook), answer: HookAnswers.binding(of: hook))
            guard hook == .onRegister else { return [entry] }
            return [
                entry,
                Entry(
                    phase: .onceKept, summary: "After the registration of an on_register hook that returned once_kept was stored.",
                    argument: .candidate,
                    answer: nil),
            ]
        } + [
            Entry(
                phase: .route, summary: "When a request to one of the plugin's routes arrives.", argument: .routeRequest,
                answer: HookAnswers.route),
            Entry(phase: .timer, summary: "When a timer is due.", argument: nil, answer: nil),
            Entry(phase: .load, summary: "While the plugin's init.lua runs.", argument: nil, answer: nil),
        ]

    private static func argument(of hook: HookPhase) -> TypeDescription {
        switch hook {
        case .beforeSend: .draft
        case .afterSend: .sent
        case .beforeDeliver: .group
        case .onOutcome: .ended
        case .onRegister: .candidate
        case .onLogin: .login
        case .onSecureFetch: .secureFetch
        }
    }

    package var text: String {
        var lines = [
            "# Phases of plugins", "",
            "Generated from the descriptions in the program by `make docs`. See also the [guide](../how-to/plugins.md).",
            "", "| phase | when | gets | the hub waits |", "|---|---|---|---|",
        ]
        for entry in Self.entries {
            let gets = entry.argument.map { "[`\($0.name)`](lua.md#\(LuaReference.anchor($0)))" } ?? ""
            lines.append(
                "| [`\(entry.phase.name)`](#\(Self.anchor(entry))) | \(entry.summary.markdown) | \(gets) | \(entry.waits ? "yes" : "no") |")
        }
        lines.append("")
        for entry in Self.entries { lines += section(entry) }
        lines += Self.capabilities
        return lines.joined(separator: "\n") + "\n"
    }

    private func section(_ entry: Entry) -> [String] {
        var lines = ["## <a id=\"\(Self.anchor(entry))\"></a>\(entry.phase.name)", "", entry.summary.markdown, ""]
        if let answer = entry.answer {
            lines += [answer.summary.markdown, "", "| key | type | meaning |", "|---|---|---|"]
            for parameter in answer.parameters {
                let name = parameter.isRequired ? "**`\(parameter.name)`**" : "`\(parameter.name)`"
                lines.append("| \(name) | \(parameter.type.phrase.markdown) | \(parameter.summary.markdown) |")
            }
            lines += ["", "```lua", answer.example, "```", ""]
        }
        let allowed = registry.bindings.filter { $0.conditions.phases.contains(entry.phase) }
        let links = allowed.map { "[`\($0.name)`](lua.md#\(LuaReference.anchor($0)))" }
        return lines + ["May call: \(links.joined(separator: ", "))", ""]
    }

    private static var capabilities: [String] {
        ["## <a id=\"capabilities\"></a>Capabilities", "", "| capability | allows |", "|---|---|"]
            + Capability.summaries.map { "| `\($0.form)` | \($0.summary) |" }
    }

    private static func anchor(_ entry: Entry) -> String { "phase-\(entry.phase.name)" }
}

extension PhaseReference.Entry {
    fileprivate var waits: Bool {
        switch phase {
        case .hook(let hook): hook.isDeciding
        case .route: true
        case .flow, .load, .onceKept, .timer: false
        }
    }
}
