import Bindings
import Delivery
import PushModel
import PushServer

/// What `pushhost explain` knows besides the module and the errors: settings, reasons of push services, causes of traces.
enum ProgramNotes {
    static let all: [ReferenceNote] = settings + reasons + causes

    private static var settings: [ReferenceNote] {
        ServerSettings.all.map { setting in
            ReferenceNote(
                .setting, setting.name, setting.explanation,
                [
                    .init("Value", setting.form), .init("Default", setting.standard ?? ""),
                    .init("Environment variable", setting.environmentName),
                    .init("Change", setting.isLive ? "applied while the server runs, on SIGHUP" : "applied when the server restarts"),
                ])
        }
    }

    private static var reasons: [ReferenceNote] {
        APNsReason.allCases.map { reason("APNs", $0.rawValue, $0.status, $0.explanation, $0.outcome) }
            + FCMReason.allCases.map { reason("FCM", $0.rawValue, $0.status, $0.explanation, $0.outcome) }
            + WNSReason.allCases.map { reason("WNS", $0.rawValue, $0.status, $0.explanation, $0.outcome) }
            + WebPushReason.allCases.map { reason("Web Push", $0.rawValue, $0.status, $0.explanation, $0.outcome) }
    }

    /// - Parameter explanation: What the reason means and what to do, with a semicolon between them.
    private static func reason(
        _ service: String, _ name: String, _ status: Int?, _ explanation: String, _ outcome: OutcomeName
    ) -> ReferenceNote {
        let parts = explanation.split(separator: ";", maxSplits: 1).map { String($0.drop { $0 == " " }) }
        let source = [service, status.map { "status \($0)" }].compactMap(\.self).joined(separator: ", ")
        return ReferenceNote(
            .reason, "\(service) \(name)", short: name, "\(parts.first ?? "") (\(source))",
            [.init("What to do", parts.count > 1 ? parts[1] : ""), .init("Outcome of the device", outcome.rawValue)])
    }

    private static var causes: [ReferenceNote] {
        TraceCause.allCases.map { cause in
            ReferenceNote(
                .cause, cause.rawValue, cause.pattern, [.init("Reported by", "pushhost trace"), .init("What to do", cause.advice)])
        }
    }
}
