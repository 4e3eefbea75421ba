import FoundationEssentials
import PushModel
import Testing

@testable import PushServer

@Suite struct FlowSettingsTests {
    private func flows(_ yaml: String) throws(PushError) -> [ServedFlow] {
        try ServerSettings(file: ("pushhost.yaml", yaml), environment: [:], flags: [:]).flows
    }

    private func faults(_ yaml: String) -> [String] {
        do throws(PushError) {
            _ = try flows(yaml)
            return []
        } catch {
            return error.details["faults"]?.array?.compactMap(\.string) ?? [error.message]
        }
    }

    @Test func `Flows are read with all their settings`() throws {
        let found = try flows(
            """
            listen: { port: 1 }
            flows:
              - name: news
                script: scripts/news.lua
                hub: other
                http: account
                schedule: "30 9 * * MON-FRI"
                time_zone: Europe/Lisbon
                missed: once
                events: [registration.created, token.expired]
                args: { text: "Good day", count: 3, deep: [1, true] }
                concurrency: 4
                overlap: replace
                guarantee: at-least-once
                timeout: 90s
                ceiling: 1000
              - name: many
                script: a.lua
                time_zone: UTC
                schedule:
                  - "@daily"
                  - { name: evening, cron: "0 18 * * *", time_zone: Asia/Tokyo, missed: all, args: { text: Bye } }
              - name: backend
                script: b.lua
                backend: notifications
              - { name: off, script: c.lua, enabled: false }
            """)
        #expect(found.map(\.name) == ["news", "many", "backend"])
        let news = found[0]
        #expect(news.triggers.access == .account && news.hub == "other" && news.triggers.events == [.registrationCreated, .tokenExpired])
        #expect(news.arguments == ["text": "Good day", "count": 3, "deep": [1, true]])
        #expect(
            news.policy.concurrency == 4 && news.policy.overlap == .replace && news.policy.guarantee == .atLeastOnce
                && news.policy.ceiling == 1000)
        #expect(news.policy.timeout == .seconds(90) && news.triggers.schedules.map(\.name) == ["news"])
        #expect(news.triggers.schedules.first?.timeZone == "Europe/Lisbon" && news.triggers.schedules.first?.missed == .once)
        #expect(found[1].triggers.schedules.map(\.name) == ["many-1", "evening"])
        #expect(
            found[1].triggers.schedules.map(\.timeZone) == ["UTC", "Asia/Tokyo"]
                && found[1].triggers.schedules[1].arguments == ["text": "Bye"])
        #expect(found[2].triggers.answersBackend && found[2].policy.guarantee == .atMostOnce)
    }

    @Test func `An empty list of flows is valid`() throws {
        #expect(try flows("flows:\n").isEmpty)
        #expect(try flows("flows: []\n").isEmpty)
    }

    @Test func `Every fault is reported with its line and a suggestion`() {
        let found = faults(
            """
            flows:
              - name: a b
                script: x.lua
              - script: x.lua
              - name: c
              - name: d
                script: x.lua
                htp: send
                http: sende
                schedule: "30 25 * * *"
                time_zone: Europe/Lisboa
                missed: never
                events: [registration.create]
                concurrency: 0
                timeout: soon
                overlap: both
                guarantee: exactly-once
              - name: d
                script: y.lua
              - name: e
                script: y.lua
                missed: once
              - text
            """)
        func has(_ line: Int, _ text: String) -> Bool { found.contains { $0.hasPrefix("pushhost.yaml:\(line): ") && $0.contains(text) } }
        #expect(has(2, "invalid flow name"))
        #expect(has(4, "needs a \"name\""))
        #expect(has(5, "needs a \"script\""))
        #expect(has(8, "did you mean \"http\"?"))
        #expect(has(9, "did you mean send?"))
        #expect(has(10, "hour \"25\" is not allowed"))
        #expect(has(11, "did you mean \"Europe/Lisbon\"?"))
        #expect(has(12, "skip, once or all"))
        #expect(has(13, "did you mean registration.created?"))
        #expect(
            has(14, "from 1 to 100") && has(15, "a duration") && has(16, "skip, queue or replace")
                && has(17, "at-most-once or at-least-once"))
        #expect(has(22, "needs a \"schedule\""))
        #expect(has(23, "- name: morning"))
        #expect(faults("flows: text\n") == ["pushhost.yaml:1: flows must be a list, such as - name: morning"])
    }

    @Test func `A single schedule needs no list`() throws {
        let text = "flows: [{ name: a, script: a.lua, schedule: { cron: \"30 2 * * *\", time_zone: Europe/Berlin } }]"
        let rules = try flows(text)[0].triggers.schedules
        #expect(rules.map(\.name) == ["a"] && rules.first?.timeZone == "Europe/Berlin")
    }

    @Test func `Two flows cannot both serve the backend, and schedule names are unique`() {
        let twice = """
            flows:
              - { name: a, script: a.lua, backend: notifications, schedule: [{ name: s, cron: "@daily" }] }
              - { name: b, script: b.lua, backend: notifications, schedule: [{ name: s, cron: "@daily" }] }
            """
        let found = faults(twice)
        #expect(found.contains { $0.contains("a and b both have backend: notifications") })
        #expect(found.contains { $0.contains("duplicate schedule name s") })
    }
}
