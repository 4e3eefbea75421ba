import PushModel
import Testing

@testable import PushServer

/// The webhook for removed devices, and how long they can be restored.
@Suite struct FeedbackSettingsTests {
    private func faults(_ yaml: String) -> [String] {
        do throws(PushError) {
            _ = try ServerSettings(file: ("pushhost.yaml", yaml), environment: [:], flags: [:])
            return []
        } catch {
            return error.details["faults"]?.array?.compactMap(\.string) ?? []
        }
    }

    @Test func `durations have bounds, and their defaults are Azure's half hour and one day`() throws {
        #expect(ServerSettings().delivery.retryWindow == .seconds(1800) && ServerSettings().delivery.prunedRetention == .seconds(86_400))
        let settings = try ServerSettings(
            file: ("pushhost.yaml", "delivery: { retry_window: 2h }\nkeep: { pruned: 7d }"), environment: [:], flags: [:])
        #expect(settings.delivery.retryWindow == .seconds(7200) && settings.delivery.prunedRetention == .seconds(7 * 86_400))
        for text in ["59s", "25h"] {
            #expect(faults("delivery: { retry_window: \(text) }") == ["delivery.retry_window: must be between 1m and 24h"])
        }
        for text in ["59s", "31d"] { #expect(faults("keep: { pruned: \(text) }") == ["keep.pruned: must be between 1m and 30d"]) }
        #expect(faults("delivery: { retry_window: 1m }\nkeep: { pruned: 30d }").isEmpty)
    }

    @Test func `a webhook needs a safe address and a secret`() throws {
        let secret = "secret: 0123456789abcdef"
        for address in ["https://app.example/pruned", "http://127.0.0.1:9/x", "http://localhost/x"] {
            #expect(faults("feedback: { webhook: '\(address)', \(secret) }").isEmpty, "\(address)")
        }
        for address in ["http://app.example/pruned", "http://10.0.0.1/", "https://user:word@app.example/"] {
            #expect(faults("feedback: { webhook: '\(address)', \(secret) }").first?.contains("feedback.webhook") == true, "\(address)")
        }
        for rest in ["", ", secret: tooshort"] {
            let fault = faults("feedback: { webhook: 'https://app.example/'\(rest) }").first
            #expect(fault?.contains("feedback.secret") == true && fault?.contains("tooshort") == false)
        }
        let settings = FeedbackSettings(webhook: "https://app.example/", secret: Secret("0123456789abcdef"))
        #expect(settings.webhook(allowsPrivate: false)?.network != nil)
        #expect(settings.webhook(allowsPrivate: true)?.network == nil)
        #expect(FeedbackSettings(webhook: "http://localhost/", secret: settings.secret).webhook(allowsPrivate: false)?.network == nil)
        #expect(FeedbackSettings().webhook(allowsPrivate: false) == nil)
    }
}
