import Bindings
import HostSupport
import PushLab
import PushModel
import Testing

/// A push to phones of every platform while one service fails: the others get it at once, the flow learns which service failed, and the
/// result is the same over the network.
@Suite struct WireOutageTests {
    /// A service and a temporary fault, as a script names them.
    private struct Outage: Sendable, CustomTestStringConvertible {
        let service: String
        let reason: String
        /// A device's final outcome if the fault lasts.
        let outcome: String

        var testDescription: String { "\(service) \(reason)" }

        static let all = [
            Outage(service: "apns", reason: "ServiceUnavailable", outcome: "PnsUnavailable"),
            Outage(service: "fcm", reason: "UNAVAILABLE", outcome: "PnsUnavailable"),
            Outage(service: "wns", reason: "InternalServerError", outcome: "PnsServerError"),
            Outage(service: "browser", reason: "ServiceUnavailable", outcome: "PnsUnavailable"),
        ]
    }

    private static let opening = """
        local names, phones, s = { "apns", "fcm", "wns", "browser" }, {}, login "alice"
        for _, name in ipairs(names) do phones[name] = phone(s, name, name) end
        local function tell(text)
          local sent = push.clock.iso()
          local outcome = push.send { to = "username:alice", alert = text }
          local outcomes = {}
          for _, row in ipairs(outcome.devices) do outcomes[row.name] = row.outcome end
          for _, name in ipairs(names) do
            local inbox = phones[name]:inbox()
            local last = inbox[#inbox]
            local when = not last and "never" or last.received_at == sent and "at once" or "later"
            print(text, name, outcomes[name], #inbox, when)
          end
        end

        """

    private func lines(_ text: String, count: Int, but failing: String, _ outcome: String, _ failed: (count: Int, when: String)) -> [String]
    {
        ["apns", "fcm", "wns", "browser"].map { name in
            name == failing
                ? [text, name, outcome, "\(failed.count)", failed.when].joined(separator: "\t")
                : [text, name, "Success", "\(count)", "at once"].joined(separator: "\t")
        }
    }

    @Test(arguments: Outage.all)
    private func `A service that fails delays only its own phones, over either wire`(outage: Outage) async throws {
        let (service, reason) = (outage.service, outage.reason)
        let lua =
            Self.opening + """
                push.simulator.\(service):fail { reason = "\(reason)" }
                tell "outage"
                push.simulator.\(service):reset()
                push.simulator.\(service):fail { reason = "\(reason)", next = 3 }
                tell "short"
                push.simulator.\(service):disconnect { next = 2 }
                tell "broken"
                tell "well"
                """
        let near = try await rehearse(lua)
        let far = try await rehearse(lua, over: try WireKind.network.opened())
        #expect(near.error == nil)
        #expect(far.everything == near.everything)
        let expected =
            lines("outage", count: 1, but: service, outage.outcome, (0, "never"))
            + lines("short", count: 2, but: service, "Success", (1, "later"))
            + lines("broken", count: 3, but: service, "Success", (2, "later"))
            + lines("well", count: 4, but: service, "Success", (3, "at once"))
        #expect(far.log == expected)
        #expect(near.log == expected)
    }
}
