import Bindings
import Delivery
import PushModel
import PushServer

/// Topics of `pushhost explain` besides the module and the errors: settings, reasons of push services, causes of traces, guides.
enum ProgramNotes {
    static let all: [ReferenceNote] = settings + reasons + causes + guides

    private static var settings: [ReferenceNote] {
        ServerSettings.all.map { setting in
            ReferenceNote(
                .setting, setting.name, setting.explanation,
                [
                    .init("Value", setting.form), .init("Default", setting.standard ?? ""),
                    .init("Environment variable", setting.environmentName),
                    .init("Change", setting.isReloadable ? "applied while the server runs, on SIGHUP" : "applied when the server restarts"),
                ])
        }
    }

    private static var reasons: [ReferenceNote] {
        APNsReason.allCases.map { reason("APNs", $0.rawValue, $0.status, $0.meaning, $0.advice, $0.outcome) }
            + FCMReason.allCases.map { reason("FCM", $0.rawValue, $0.status, $0.meaning, $0.advice, $0.outcome) }
            + WNSReason.allCases.map { reason("WNS", $0.rawValue, $0.status, $0.meaning, $0.advice, $0.outcome) }
            + WebPushReason.allCases.map { reason("Web Push", $0.rawValue, $0.status, $0.meaning, $0.advice, $0.outcome) }
    }

    private static func reason(
        _ service: String, _ name: String, _ status: Int?, _ meaning: String, _ advice: String?, _ outcome: OutcomeName
    ) -> ReferenceNote {
        let source = [service, status.map { "status \($0)" }].compactMap(\.self).joined(separator: ", ")
        return ReferenceNote(
            .reason, "\(service) \(name)", short: name, "\(meaning) (\(source))",
            [.init("What to do", advice ?? ""), .init("Outcome of the device", outcome.rawValue)])
    }

    private static var causes: [ReferenceNote] {
        TraceCause.allCases.map { cause in
            ReferenceNote(
                .cause, cause.rawValue, cause.pattern, [.init("Reported by", "pushhost trace"), .init("What to do", cause.advice)])
        }
    }

    /// Operations that have no other topic, each with the words that people search for as its short name.
    private static let guides: [ReferenceNote] = [
        ReferenceNote(
            .guide, "SIGHUP", short: "reload", "Reloads the settings of a running server.",
            [
                .init("Effect", "Live settings change at once; the log names those that need a restart. If one is invalid, none changes."),
                .init("Guide", "docs/how-to/operating.md#changing-settings"),
            ]),
        ReferenceNote(
            .guide, "send --dry-run", short: "dry-run", "Shows what each device would receive, and sends nothing.",
            [
                .init("Example", "pushhost send \"Goal\" --to sports --dry-run"),
                .init("See also", "pushhost plan, which lists exactly the devices"),
                .init("Guide", "docs/how-to/operating.md"),
            ]),
        ReferenceNote(
            .guide, "plugin quiet-hours", short: "quiet-hours", "Defers notifications during the night, in the time zone of each device.",
            [
                .init("Example", "pushhost plugin enable quiet-hours"),
                .init("Guide", "docs/reference/plugins/quiet-hours.md"),
            ]),
    ]
}
