import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// `pushhost plan FILE`.
@Suite struct PlanFlowTests {
    private static let flow = """
        --- Tells who follows a team.
        local push = require "push"
        local args = push.args { team = { type = "string", default = "lions" } }
        local phones = {}
        push.step("subscribe", function()
          for number = 1, 2 do
            phones[number] = push.device { name = "phone-" .. number, platform = "apns" }
            push.subscribe { device = phones[number], categories = { args.team } }
          end
        end)
        local outcome = push.step("tell them", function()
          return push.send { to = args.team, properties = { messageParam = "Goal" } }
        end)
        local later = push.schedule { after = "1h", to = args.team, properties = { messageParam = "Half-time" } }
        push.send { to = "tigers", alert = "Hello" }
        local plan = push.plan { to = args.team, properties = { messageParam = "bound" } }
        push.send { plan = plan }
        push.cancel(push.send { to = push.everyone, alert = "never mind" }.id)
        push.expect(outcome.sent).to.equal(0)
        local trace = push.trace { notification = outcome.id, device = phones[1] }
        push.expect(trace.cause).to.equal "only_planned"
        push.expect(push.trace { notification = outcome.id }.causes[1].sentence)
          .to.equal "The notification was only planned, so nothing was sent to its 2 devices."
        push.expect(push.trace { notification = later.id, device = "pad" }.sentence)
          .to.equal "The notification was only planned, so nothing was sent to pad."
        local is_known, flaw = pcall(push.trace, { notification = "n-0077" })
        push.expect(is_known).to.equal(false)
        push.expect(flaw.code).to.equal "notification.not_found"
        push.expect(push.outcome(later.id).state).to.equal "Scheduled"
        push.rehearse("the phones show it", function() push.expect(phones[1]:wait_for { within = "5s" }).to.exist() end)
        return { sent = outcome.sent, total = plan.total }
        """

    @Test func `A flow is planned in a rehearsal: each send has a plan, and nothing crosses a wire`() async throws {
        let folder = try ScriptFolder(["news.lua": Self.flow])
        let text = try await BuiltProgram.run(["plan", "news.lua", "--team", "bears"], in: folder.url)
        #expect(text.status == 0, "\(text.output)\(text.errors)")
        for words in ["planned-1", "to bears", "2 devices would get it", "planned-2  at 2026-01-05T10:00:00Z", "to tigers", "skipped"] {
            #expect(text.output.contains(words), "\(words)\n\(text.output)")
        }
        let rows = try await BuiltProgram.run(["plan", "news.lua", "--all", "--team", "bears"], in: folder.url)
        #expect(rows.status == 0 && rows.output.contains("DEVICE") && rows.output.contains("breakingNews"), "\(rows.output)")
        let run = try await BuiltProgram.run(["plan", "news.lua", "--json", "--trace"], in: folder.url)
        let report = try JSON(parsing: run.output)
        #expect(run.status == 0 && report["verdict"] == "pass", "\(run.output)")
        let plans = try #require(report["plans"]?.array)
        #expect(plans.map { $0["send"] } == ["planned-1", "planned-2", "planned-3", "planned-4"])
        #expect(plans.map { $0["total"] } == [2, 2, 0, 2] && plans[1]["at"] == "2026-01-05T10:00:00.000Z")
        #expect(report["result"] == ["sent": 0, "total": 2] && report["delivered"] == 0)
        #expect(!run.output.contains("api.push.apple.com"), "\(run.output)")
        let help = try await BuiltProgram.run(["plan", "news.lua", "--help"], in: folder.url)
        #expect(help.output.contains("Tells who follows a team.") && help.output.contains("--team"))
        let wrong = try await BuiltProgram.run(["plan", "news.lua", "--taem", "x"], in: folder.url)
        #expect(wrong.status == 2 && wrong.errors.contains("did you mean"), "\(wrong.errors)")
    }

    @Test func `A flow is planned for the devices of a server, which is not changed`() async throws {
        try await ServedHub.serving { hub in
            for number in 1...3 {
                let handle = String(repeating: "ab", count: 31) + "0\(number)"
                let template = #"{"body": "{\"aps\": {\"alert\": \"$(messageParam)\"}}"}"#
                _ = try await hub.call(
                    "PUT", "/hub/installations/pad-\(number)?api-version=2020-06",
                    body: """
                        {"installationId": "pad-\(number)", "platform": "apns", "pushChannel": "\(handle)", "tags": ["lions"],
                         "templates": {"news": \(template)}}
                        """)
            }
            let folder = try ScriptFolder([
                "news.lua": """
                local push = require "push"
                push.install("pad-9", { platform = "apns", push_channel = ("cd"):rep(32), tags = { "lions" } })
                push.expect(push.installation("pad-9").id).to.equal "pad-9"
                push.uninstall("pad-1")
                return push.send { to = "lions", properties = { messageParam = "Goal" } }.sent
                """
            ])
            let before = try await hub.command(["devices", "--json"]).output
            let run = try await BuiltProgram.run(
                ["plan", "news.lua", "--json", "--all", "--hub", "hub"], in: folder.url,
                environment: ["PUSHHOST_TARGET": try hub.plainConnectionString()])
            let report = try JSON(parsing: run.output)
            #expect(run.status == 0 && report["verdict"] == "pass", "\(run.output)\(run.errors)")
            #expect(report["plans"]?.array?.first?["total"] == 3 && report["pretended_registrations"] == 1)
            #expect(report["plans"]?.array?.first?["devices"]?.array?.map { $0["installationId"] } == ["pad-1", "pad-2", "pad-3"])
            #expect(try await hub.command(["devices", "--json"]).output == before)
            for list in ["notification", "plan"] {
                #expect(try await JSON(parsing: hub.command([list, "list", "--json"]).output)["result"]?["items"] == [])
            }
        }
    }
}
