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
        notes("APNs", APNsReason.self, status: \.status) + notes("FCM", FCMReason.self, status: \.status)
            + notes("WNS", WNSReason.self, status: \.status) + notes("Web Push", WebPushReason.self, status: \.status)
    }

    private static func notes<Reason: ServiceReason>(
        _ service: String, _: Reason.Type, status: (Reason) -> Int?
    ) -> [ReferenceNote] {
        Reason.allCases.map { reason in
            let source = [service, status(reason).map { "status \($0)" }].compactMap(\.self).joined(separator: ", ")
            return ReferenceNote(
                .reason, "\(service) \(reason.rawValue)", short: reason.rawValue, "\(reason.texts.meaning) (\(source))",
                [.init("What to do", reason.texts.advice ?? ""), .init("Outcome of the device", reason.outcome.rawValue)])
        }
    }

    private static var causes: [ReferenceNote] {
        TraceCause.allCases.map { cause in
            ReferenceNote(
                .cause, cause.rawValue, cause.generalSentence, [.init("Reported by", "pushhost trace"), .init("What to do", cause.advice)])
        }
    }

    /// Operations that have no other topic, each with the words that people search for as its short name.
    private static let guides: [ReferenceNote] = [
        ReferenceNote(
            .guide, "approval", short: "approvals", "Requires the approval of a second person for sends to many devices.",
            [
                .init("Example", "pushhost approvals list"),
                .init("Setting", "guard.ceiling, how many devices a send may reach without approval"),
                .init("Guide", "docs/how-to/approvals-and-audit.md#approve-or-deny-a-request"),
            ]),
        ReferenceNote(
            .guide, "audit", short: "audit log", "Records what operators and keys do with a server (pushhost audit).",
            [
                .init("Example", "pushhost audit list --since 24h"),
                .init("Effect", "Each entry contains the hash of the one before it; pushhost audit verify detects changed entries."),
                .init("Guide", "docs/how-to/approvals-and-audit.md#read-the-audit-log"),
            ]),
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
        ReferenceNote(
            .guide, "GET /metrics", short: "metrics", "Returns the metrics of a running server in the format of Prometheus.",
            [
                .init("Example", "curl http://localhost:8080/metrics"),
                .init("Guide", "docs/reference/metrics.md"),
            ]),
        ReferenceNote(
            .guide, "retry backoff", short: "backoff", "Waits longer after each failed attempt to reach a push service.",
            [
                .init("Effect", "The hub waits 1, 2, 4 … seconds, up to a minute, or as long as the service asks."),
                .init("Setting", "delivery.retry_window, how long a device is retried"),
                .init("Guide", "docs/explanation/delivery.md#when-a-push-service-fails"),
            ]),
        ReferenceNote(
            .guide, "server upgrade", short: "upgrade", "Upgrades the database of an older version at the first startup of a newer one.",
            [
                .init("Before", "Copy the data folder with pushhost hub backup. An older version rejects the upgraded database."),
                .init("Guide", "docs/how-to/backups.md#the-key-file"),
            ]),
    ]
}
