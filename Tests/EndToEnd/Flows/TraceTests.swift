import Bindings
import HostSupport
import Lua
import PushModel
import Support
import Testing

/// `push.trace`: why a simulated phone did or did not show a notification.
@Suite struct TraceFlowTests {
    struct Scenario: Sendable, CustomTestStringConvertible {
        let cause: TraceCause
        let sentence: String
        /// The script. It has `phone`, with the tag "x".
        let lua: String

        var testDescription: String { cause.rawValue }

        init(_ cause: TraceCause, _ sentence: String, _ lua: String) { (self.cause, self.sentence, self.lua) = (cause, sentence, lua) }
    }

    private static let wake = #"push.send { to = "x", payload = { apns = { aps = { ["content-available"] = 1 } } } }"#

    static let scenarios = [
        Scenario(.shown, "alice-1 showed it at 2026-01-05 09:00:00 UTC.", #"return push.send { to = "x", alert = "Hello" }"#),
        Scenario(
            .phoneOffline, "alice-1 has been offline since 2026-01-05 09:00:00 UTC, and APNs stores the notification until it is back.",
            #"phone:offline() push.sleep "1m" return push.send { to = "x", alert = "Hello" }"#),
        Scenario(
            .offlineAndLost,
            "alice-1 was offline at 2026-01-05 09:01:00 UTC, and the notification was sent without storage, so APNs dropped it.",
            """
            phone:offline() push.sleep "1m"
            return push.send { to = "x", payload = { apns = { aps = { alert = "Now" } } }, headers = { apns = { ["apns-expiration"] = "0" } } }
            """),
        Scenario(
            .savesPower,
            "alice-1 has been in low power mode since 2026-01-05 09:00:00 UTC, and the notification is not urgent, so it waits.",
            #"phone:low_power() push.sleep "1m" return push.send { to = "x", alert = "Hello", priority = "low" }"#),
        Scenario(
            .replacedWaiting,
            "While it waited for alice-1, a later notification, n-0002, replaced it at 2026-01-05 09:01:00 UTC.",
            """
            phone:offline()
            local sent = push.send { to = "x", alert = "One" }
            push.sleep "1m" push.send { to = "x", alert = "Two" }
            return sent
            """),
        Scenario(
            .expiredWaiting,
            "The notification expired while alice-1 was unreachable; it was back at 2026-01-05 09:02:00 UTC.",
            """
            phone:offline()
            local sent = push.send { to = "x", alert = "Hello", expires_in = "1m" }
            push.sleep "2m" phone:online()
            return sent
            """),
        Scenario(
            .forceQuit, "The user had force-quit the app on alice-1, and the notification needs the app to run.",
            "phone:force_quit() return \(wake)"),
        Scenario(
            .uninstalled, "The app was uninstalled from alice-1 at 2026-01-05 09:01:00 UTC.",
            #"phone:offline() local sent = push.send { to = "x", alert = "Hello" } push.sleep "1m" phone:uninstall() return sent"#),
        Scenario(
            .phoneFailed,
            "It reached alice-1 at 2026-01-05 09:00:00 UTC, which could not handle it: the app's background pushes of this hour are used up.",
            "local sent for i = 1, 4 do sent = \(wake) end return sent"),
        Scenario(
            .nothingToShow, "It reached alice-1 at 2026-01-05 09:00:00 UTC, and has no text that a phone could show.",
            #"return push.send { to = "x", payload = { apns = { aps = { sound = "default" } } } }"#),
        Scenario(
            .background, "It reached alice-1 at 2026-01-05 09:00:00 UTC as a background push, which shows nothing by itself.",
            "return \(wake)"),
        Scenario(
            .leftToApp,
            "The app on alice-1 got it at 2026-01-05 09:00:00 UTC, and whether something is shown is up to the app's own code.",
            #"phone:on_push(function() phone:show { body = "Secret" } end) local sent = \#(wake) push.sleep "1s" return sent"#),
        Scenario(
            .replacedShown,
            "alice-1 showed it at 2026-01-05 09:00:00 UTC, until a later notification, n-0002, replaced it at 2026-01-05 09:01:00 UTC.",
            """
            local sent = push.send { to = "x", alert = "1:0", collapse_id = "score" }
            push.sleep "1m" push.send { to = "x", alert = "2:0", collapse_id = "score" }
            return sent
            """),
    ]

    @Test(arguments: scenarios)
    func `a trace explains a phone's result in one sentence, however the phone is named`(scenario: Scenario) async throws {
        let run = try await rehearse(
            """
            local phone = push.device { name = "alice-1", platform = "apns", user = "alice" }
            push.install("pad", { device = phone, tags = { "x" } })
            local function work() \(scenario.lua) end
            local sent = work()
            local told = {}
            for _, device in ipairs { phone, "alice-1" } do
              local trace = push.trace { notification = sent.id, device = device }
              local causes = 0
              for _, line in ipairs(trace.lines) do if line.is_cause then causes = causes + 1 end end
              told[#told + 1] = trace.cause .. " " .. causes .. " " .. trace.sentence
            end
            return told
            """)
        if let error = run.error { Issue.record("\(error)") }
        let expected = "\(scenario.cause.rawValue) 1 \(scenario.sentence)"
        #expect(run.report.result?.array?.compactMap(\.string) == [expected, expected])
    }

    @Test func `the list of causes on phones is complete`() {
        #expect(Set(Self.scenarios.map(\.cause)) == TraceCauses.ofPhones)
    }

    @Test(arguments: [("fcm", "FCM"), ("wns", "WNS"), ("browser", "Web Push")])
    func `a trace reports what phones of every platform show`(platform: String, service: String) async throws {
        let run = try await rehearse(
            """
            local phone = push.device { name = "p", platform = "\(platform)" }
            push.install("i", { device = phone, tags = { "x" } })
            local sent = push.send { to = "x", alert = "Hello" }
            phone:offline() push.sleep "1m"
            local waits = push.send { to = "x", alert = "Later" }
            local causes = {}
            for _, id in ipairs { sent.id, waits.id } do causes[#causes + 1] = push.trace { notification = id, device = phone }.cause end
            return causes
            """)
        if let error = run.error { Issue.record("\(error)") }
        #expect(run.result == #"["shown","phone_offline"]"#, "\(service)")
    }

    @Test func `a phone with an invalid or replaced token is the same phone`() async throws {
        let run = try await rehearse(
            """
            local phone = push.device { name = "alice-1", platform = "apns" }
            push.install("pad", { device = phone, tags = { "x" } })
            phone:rotate_token()
            local dead = push.send { to = "x", alert = "One" }
            push.install("pad", { device = phone, tags = { "x" } })
            local shown = push.send { to = "x", alert = "Two" }
            phone:uninstall()
            local gone = push.send { to = "x", alert = "Three" }
            local told = {}
            for _, id in ipairs { dead.id, shown.id, gone.id } do
              local trace = push.trace { notification = id, device = phone }
              told[#told + 1] = trace.cause
            end
            return told
            """)
        if let error = run.error { Issue.record("\(error)") }
        #expect(run.result == #"["token_dead","shown","token_dead"]"#)
    }

    @Test func `a trace names the property that a template lacks`() async throws {
        let run = try await rehearse(
            """
            local phone = push.device { name = "alice-1", platform = "apns" }
            push.subscribe { device = phone, categories = { "News" }, template = '{"aps":{"alert":"$(message)"}}' }
            local sent = push.send { to = "News", properties = { headline = "Hello" } }
            push.expect(push.trace { notification = sent.id }.causes[1].cause).to.equal "property_missing"
            return push.trace { notification = sent.id, device = phone }.sentence
            """)
        if let error = run.error { Issue.record("\(error)") }
        #expect(
            run.result
                == #""The template of alice-1 shows \"message\", which the notification does not have, so there was no text to show.""#)
    }

    @Test func `without a device, the trace counts the phones' results`() async throws {
        let run = try await rehearse(
            """
            for i = 1, 3 do
              local phone = push.device { name = "p" .. i, platform = "apns" }
              push.install("i" .. i, { device = phone, tags = { "x" } })
              if i == 3 then phone:offline() end
            end
            local sent = push.send { to = "x", alert = "Hello" }
            local told = {}
            for _, count in ipairs(push.trace { notification = sent.id }.causes) do
              told[#told + 1] = count.devices .. " " .. count.cause .. " " .. count.example
            end
            return told
            """)
        if let error = run.error { Issue.record("\(error)") }
        #expect(run.result == #"["2 shown i1","1 phone_offline i3"]"#)
    }

    @Test(arguments: [
        (#"push.trace { notification = "n-0009", device = "p" }"#, "notification.not_found"),
        (#"push.trace { notification = push.send { device = phone, alert = "Hi" }.id, device = "alice-l" }"#, "device.not_found"),
        (#"push.trace { id = "n-0001" }"#, "args.unknown_key"), (#"push.trace { device = "alice-1" }"#, "args.missing"),
        (#"push.trace { notification = 7 }"#, "args.wrong_type"),
    ])
    func `a mistake in a trace call has its own error code`(lua: String, code: String) async throws {
        let run = try await rehearse("local phone = push.device { name = \"alice-1\", platform = \"apns\" } return \(lua)")
        #expect(run.error?.code == code)
    }
}
