import PushModel
import PushRuntime

/// Prints the result of a notification, or the preview of one.
struct SendReport {
    let palette: Palette

    func lines(_ report: Sender.Report) -> [String] {
        let notification = report.notification
        let id = (notification["notificationId"]?.string ?? "").printable
        let audience = "to \(report.channel.map { "APNs channel \($0)" } ?? NotificationAudience(notification).text)"
        if report.state == NotificationOutcome.State.scheduled.rawValue {
            return ["\(palette.green("✓")) \(id)  \(audience.printable)", "  scheduled for \(notification["scheduledFor"]?.string ?? "")"]
        }
        if report.isWithoutTarget {
            return ["\(palette.yellow("warning[hub.no_target]")): no device matches; nothing was sent", "  \(id)  \(audience.printable)"]
                + near(notification)
        }
        let counts = OutcomeCounts(notification)
        let isStopped = report.state == NotificationOutcome.State.canceled.rawValue
        if isStopped, counts.all == 0 {
            return ["\(palette.dim("○")) \(id)  \(audience.printable)", "  cancelled before it was sent"]
        }
        let isInFlight = [NotificationOutcome.State.enqueued, .processing].contains { $0.rawValue == report.state }
        let mark =
            isStopped || isInFlight && counts.failed == 0
            ? palette.dim("○") : counts.failed == 0 ? palette.green("✓") : palette.red("✗")
        var lines = [
            "\(mark) \(id)  \(audience.printable)  \(counts.sentence) · \(counts.failed) failed\(counts.skipped > 0 ? " · \(counts.skipped) skipped" : "")"
        ]
        for entry in counts.platforms {
            let outcomes = entry.counts.map { "\($0.count) \($0.outcome == OutcomeName.success.rawValue ? "sent" : $0.outcome)" }
            lines.append("  \(name(entry.platform).padded(to: 10))\(outcomes.joined(separator: " · "))")
        }
        if isInFlight { lines.append("  in progress: more devices may follow") }
        if isStopped { lines.append("  cancelled: the remaining devices get nothing") }
        lines += remarks(notification)
        guard !report.failed.isEmpty else { return lines }
        var table = TextTable("NOT REACHED", "PLATFORM", "OUTCOME", "REASON")
        for device in report.failed {
            let removed = device["isRegistrationRemoved"]?.bool == true ? "; the registration was removed" : ""
            let reason = [device["reason"]?.string, device["explanation"]?.string].compactMap { $0 }.filter { !$0.isEmpty }
            table.add(
                device["installationId"]?.string ?? device["registrationId"]?.string ?? "a device", name(device["platform"]?.string ?? ""),
                device["outcome"]?.string ?? "", reason.joined(separator: ": ") + removed)
        }
        lines += table.lines(palette).map { "  \($0)" }
        let hidden = counts.all - counts.sent - report.failed.count
        return lines + (hidden > 0 ? [palette.dim("  and \(hidden) more")] : [])
    }

    /// Prints the payload that each group of devices would receive.
    func lines(preview: JSON) -> [String] {
        let groups = preview["groups"]?.array ?? []
        let reached = groups.filter { $0["refused"] == nil }.reduce(0) { $0 + ($1["devices"]?.int ?? 0) }
        guard !groups.isEmpty else { return ["\(palette.yellow("warning[hub.no_target]")): no device matches"] + near(preview) }
        let more = preview["furtherGroups"]?.int ?? 0
        var lines = ["\(more > 0 ? "more than " : "")\(reached) device\(reached == 1 ? "" : "s") would get it; nothing was sent"]
        for group in groups {
            let template = group["template"]?.string.map { "  template \($0)" } ?? ""
            let devices = group["devices"]?.int ?? 0
            lines.append(
                "  \(name(group["platform"]?.string ?? "").padded(to: 10))\(devices) device\(devices == 1 ? "" : "s")"
                    + "\(template)  \(group["bytes"]?.int ?? 0) bytes".printable)
            lines += (group["payload"]?.string ?? group["payload"]?.text() ?? "").split(separator: "\n").map { "    \($0)".printable }
            if let refused = group["refused"] {
                let why = [refused["outcome"]?.string, refused["explanation"]?.string ?? refused["reason"]?.string].compactMap { $0 }
                lines.append("    \(palette.red("rejected")): \(why.joined(separator: ": ").printable)")
            }
        }
        if more > 0 { lines.append("  and \(more) more groups") }
        return lines + near(preview)
    }

    /// The devices removed from the hub because of this send, and notices to the operator.
    private func remarks(_ notification: JSON) -> [String] {
        let left = (notification["pruned"]?.object?.members ?? []).map { platform, reasons in
            let counts = (reasons.object?.members ?? []).map { "\($0.value.int ?? 0) \($0.key.printable)" }
            return
                "  \(name(platform).padded(to: 10))devices removed because their tokens are invalid: \(counts.joined(separator: " · "))"
        }
        let notices = (notification["notices"]?.array ?? []).compactMap(\.string)
        return left + notices.map { "  \(palette.yellow("notice"))  \($0.printable)" }
    }

    private func near(_ answer: JSON) -> [String] {
        (answer["nearMisses"]?.array ?? []).compactMap(\.string).map { "  \("similar".padded(to: 10))\($0.printable)" }
    }

    private func name(_ platform: String) -> String {
        (Platform(name: platform) ?? Platform(rawValue: platform))?.displayName ?? platform.printable
    }
}
