import PushModel
import PushRuntime

/// Prints a plan.
struct PlanText {
    let palette: Palette

    /// Maximum number of payloads that are shown in full.
    private static let groupsShown = 10

    /// - Parameter isSendable: whether the last line shows the command that sends to the plan.
    func lines(_ plan: PlanReport, isSendable: Bool = true) -> [String] {
        let name = plan.id.map { "plan \($0)" } ?? "plan"
        var lines = ["\(palette.bold(name))  to \(plan.audienceWords.printable)\(palette.dim("  nothing was sent"))"]
        if plan.total == 0 {
            lines.append("  \(palette.yellow("no device")) would get it; \(Self.count(plan.matched, "registration")) match")
        } else {
            // Only the content determines which registration of a device is used, so without content there is no number of devices.
            var parts = plan.content == nil ? [] : ["\(Self.count(plan.total, "device")) would get it"]
            if plan.content == nil || plan.matched != plan.total { parts.append("\(Self.count(plan.matched, "registration")) match") }
            if plan.duplicates > 0 { parts.append("\(Self.count(plan.duplicates, "duplicate")) skipped") }
            if plan.refused > 0 { parts.append(palette.red("\(plan.refused) refused")) }
            lines.append("  \(parts.joined(separator: " · "))")
        }
        for (platform, devices) in plan.platforms.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(platform.displayName.padded(to: 10))\(devices)")
        }
        lines += counts("tags", plan.tags, further: plan.furtherTags)
        let unknown = plan.total - plan.locales.reduce(0) { $0 + $1.devices }
        if !plan.locales.isEmpty {
            let known = plan.locales.map { "\($0.name.printable) \($0.devices)" } + (unknown > 0 ? ["unknown \(unknown)"] : [])
            lines.append("  \("locales".padded(to: 10))\(known.joined(separator: " · "))")
        }
        lines += templates(plan) + groups(plan) + near(plan)
        if let difference = plan.difference { lines += self.lines(difference) }
        if !plan.sentAs.isEmpty { lines.append("  \("sent".padded(to: 10))already, as \(plan.sentAs.joined(separator: ", "))") }
        if isSendable, let id = plan.id, plan.total > 0 {
            let until = plan.expiresAt.map { " until \($0.iso8601(fraction: false))" } ?? ""
            let content = plan.content == nil ? " TEXT" : ""
            lines.append(palette.dim("  stored\(until): send to exactly these with pushhost send --plan \(id)\(content)"))
        }
        return lines
    }

    private func counts(_ title: String, _ counts: [PlanReport.Count], further: Int) -> [String] {
        guard !counts.isEmpty else { return [] }
        let shown = counts.map { "\($0.name.printable) \($0.devices)" } + (further > 0 ? ["\(further) more"] : [])
        return ["  \(title.padded(to: 10))\(shown.joined(separator: " · "))"]
    }

    private func templates(_ plan: PlanReport) -> [String] {
        plan.templates.filter { $0.isTemplate && $0.name != nil || plan.content == nil }.map { template in
            let kind = template.isTemplate ? template.name ?? "without a name" : "native"
            let sizes = Self.sizes(template)
            return "  \("template".padded(to: 10))\(template.platform.displayName) \(kind.printable)  \(template.devices)\(sizes)"
        } + (plan.furtherTemplates > 0 ? ["  \(String(repeating: " ", count: 10))\(plan.furtherTemplates) more templates"] : [])
    }

    private static func sizes(_ template: PlanReport.TemplateCount) -> String {
        guard let smallest = template.smallest, let largest = template.largest else { return "" }
        return smallest == largest ? "  \(largest) bytes" : "  \(smallest) to \(largest) bytes"
    }

    private func groups(_ plan: PlanReport) -> [String] {
        var lines: [String] = []
        // Show payloads with problems first.
        let isWrong = { (group: PlanReport.Group) in
            group.refusal != nil || group.isTextless || !group.missing.isEmpty || !group.texts.isEmpty
        }
        let shown = (plan.groups.filter(isWrong) + plan.groups.filter { !isWrong($0) }).prefix(Self.groupsShown)
        for group in shown {
            let template = group.templateName.map { "  template \($0)" } ?? ""
            let size = "\(group.bytes) of \(group.limit) bytes"
            lines.append(
                "  \(group.platform.displayName.padded(to: 10))\(Self.count(group.devices, "device"))\(template.printable)  "
                    + (group.isTooLarge ? palette.red(size) : size))
            lines += group.payload.prefix(500).split(separator: "\n").map { "    \($0)".printable }
            let missing = group.missing.isEmpty ? "" : ": missing \(group.missing.joined(separator: ", "))"
            if group.isTextless {
                lines.append("    \(palette.red("no text to show"))\(missing.printable)")
            } else if !missing.isEmpty {
                lines.append("    \(palette.yellow("a part is empty"))\(missing.printable)")
            }
            lines += group.texts.map { "    \(palette.yellow("not replaced")): \($0.printable)" }
            if let refusal = group.refusal {
                lines.append("    \(palette.red("rejected")): \(refusal.outcome.rawValue): \(refusal.explanation.printable)")
            }
        }
        let hidden = plan.groups.count - shown.count + plan.furtherGroups
        return lines + (hidden > 0 ? [palette.dim("  and \(Self.count(hidden, "other payload")); --json lists the first 100")] : [])
    }

    private func near(_ plan: PlanReport) -> [String] {
        plan.nearMisses.map { "  \("similar".padded(to: 10))\($0.printable)" }
            + plan.failedTerms.map { "  \("no match".padded(to: 10))\($0.sentence.printable)" }
    }

    private func lines(_ difference: PlanReport.Difference) -> [String] {
        let since = "\(difference.planID), \(difference.plannedAt.iso8601(fraction: false))"
        guard difference.joined + difference.left + difference.changed > 0 else {
            return ["  \("changes".padded(to: 10))none since \(since)"]
        }
        var parts = ["\(difference.joined) added", "\(difference.left) removed"]
        if difference.changed > 0 { parts.append("\(difference.changed) would get other content") }
        return ["  \("changes".padded(to: 10))\(parts.joined(separator: " · "))  from \(since)"]
            + difference.firstJoined.map { "    \(palette.green("+")) \(Self.name($0).printable)" }
            + difference.firstLeft.map { "    \(palette.red("-")) \(Self.name($0).printable)" }
    }

    private static func name(_ device: PlannedDevice) -> String {
        let id = device.installationID ?? device.registrationID?.text ?? "a device"
        let user = device.user.map { " of \($0)" } ?? ""
        return "\(id)\(user)  \(device.platform.displayName)\(device.handle.map { "  \($0)" } ?? "")"
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    // MARK: - Devices

    static let deviceTitle = row("DEVICE", "USER", "PLATFORM", "HANDLE", "TEMPLATE", "BYTES")

    /// One line of a list. Column widths are fixed, because a list may have a million rows and is printed as it is read.
    static func row(_ device: PlannedDevice) -> String {
        let bytes =
            device.isDuplicate ? "duplicate" : (device.bytes.map(String.init) ?? "") + (device.isRefused ? " rejected" : "")
        return row(
            device.installationID ?? device.registrationID?.text ?? "", device.user ?? "", device.platform.displayName,
            device.hasLeft ? "removed" : device.handle ?? "", device.templateName ?? (device.isTemplate ? "(no name)" : ""), bytes)
    }

    private static func row(_ cells: String...) -> String {
        let widths = [42, 16, 9, 14, 14, 0]
        var text = zip(cells, widths).map { $0.printable.padded(to: $1) }.joined(separator: "  ")
        while text.last == " " { text.removeLast() }
        return text
    }
}
