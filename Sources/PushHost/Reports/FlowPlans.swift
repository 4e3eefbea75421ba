import PushHub
import PushModel

/// The sends of a planned flow, which were not made.
struct FlowPlans {
    private let entries: [PlanningHub.Entry]
    private let simulatedCount: Int

    /// Nil if the flow was run, not planned.
    init?(_ hub: PlanningHub?) {
        guard let hub else { return nil }
        (entries, simulatedCount) = (hub.entries, hub.simulatedCount)
    }

    func lines(_ palette: Palette) -> [String] {
        var lines: [String] = [""]
        if entries.isEmpty { lines.append("the flow sends nothing") }
        for entry in entries {
            let dueTime = entry.dueTime.map { "  at \($0.iso8601(fraction: false))" } ?? ""
            lines.append("\(palette.dim(entry.id))\(dueTime)")
            lines += PlanText(palette: palette).lines(entry.report, isSendable: false).map { "  \($0)" }
            let devices = entry.report.devices
            guard !devices.isEmpty else { continue }
            lines += [palette.dim("  \(PlanText.deviceTitle)")] + devices.map { "  \(PlanText.row($0))" }
            let hidden = entry.report.total + entry.report.duplicates - devices.count
            if hidden > 0 { lines.append(palette.dim("  and \(hidden) more")) }
        }
        if simulatedCount > 0 {
            lines.append(
                palette.dim("\(PlanText.count(simulatedCount, "registration")) of the flow were not made and are not part of a plan"))
        }
        return lines
    }

    /// Adds the plans to the JSON report of the run.
    func added(to document: JSON) -> JSON {
        guard var members = document.object else { return document }
        members.append(
            "plans",
            .array(
                entries.map { entry in
                    var plan = JSONObject()
                    plan.append("send", .string(entry.id))
                    if let dueTime = entry.dueTime { plan.append("at", .string(dueTime.description)) }
                    for (name, value) in PlanReportDocument(entry.report).json.object?.members ?? [] where name != "planId" {
                        plan.append(name, value)
                    }
                    return .object(plan)
                }))
        members.append("pretended_registrations", .integer(Int64(simulatedCount)))
        return .object(members)
    }
}
