import Lua
import PushModel
import Support
import Testing

@testable import Bindings

@Suite struct PluginConfigTests {
    private static let schema = """
        config = {
          from = { type = "time_of_day", default = "22:00" }, zone = { type = "time_zone" }, tag = { type = "tag" },
          tags = { type = "list", of = "tag", default = {} },
          languages = { type = "list", of = "string", default = { "fr", "pt" } },
          limits = { type = "table", fields = { day = { type = "integer", default = 3 } } },
        }
        """

    private static func plugin(_ body: String) -> PluginSource {
        PluginBench.plugin("p", "\(schema), hooks = { after_send = function() \(body) end }")
    }

    private func log(_ body: String, values: JSON = .null, calls: Int = 1) async throws -> [String] {
        let bench = try PluginBench()
        bench.host.install([try await bench.load(Self.plugin(body), values: values)])
        for number in 1...calls { await bench.host.afterSend(SentNotification(id: "n-\(number)", draft: try bench.draft())) }
        return bench.texts
    }

    @Test func `times of day, time zones and tags reach the script as texts`() async throws {
        let values: JSON = .object(["from": "24:00", "zone": "UTC", "tag": "on_call", "tags": ["a", "b:c"]])
        #expect(
            try await log("local c = push.config push.log(c.from, c.zone, c.tag, c.tags[2])", values: values)
                == ["info 24:00\tUTC\ton_call\tb:c"])
    }

    @Test(
        arguments: [
            (JSON.object(["from": "7:00"]), "config.from must be a time of the day such as 07:00, got \"7:00\""),
            (.object(["from": "24:01"]), "config.from must be a time of the day"), (.object(["from": 1320]), "config.from must be a time"),
            (.object(["zone": "Europe/Lisboa"]), "config.zone is invalid: "), (.object(["zone": true]), "config.zone must be a time zone"),
            (.object(["tag": "on call"]), "config.tag must be a tag, got \"on call\""),
            (.object(["tags": ["a", ""]]), "config.tags[2] must be a tag, got \"\""),
        ])
    func `an invalid time of day, time zone or tag is reported when the plugin is loaded`(values: JSON, expected: String) async throws {
        let error = try await PluginBench().failure(of: Self.plugin(""), values: values)
        #expect(error?.code == "plugin.config")
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "nothing")")
    }

    @Test func `defaults are checked when the manifest is read`() async throws {
        let error = try await PluginBench().failure(
            of: PluginBench.plugin("p", "config = { from = { type = 'time_of_day', default = 'noon' } }"))
        #expect(error?.message.contains("config.from.default is invalid: it must be a time of the day") == true)
    }

    @Test func `a list from the configuration is accepted by functions of the host`() async throws {
        let body = """
            local all = push.locale.properties { name = "N", texts = { en = "x" }, fallback = "en", languages = push.config.languages }
            push.log(all.N_fr, all.N_pt, push.json.encode(push.config.languages), push.json.encode(push.config.limits))
            """
        #expect(try await log(body) == [#"info x"# + "\tx\t" + #"["fr","pt"]"# + "\t" + #"{"day":3}"#])
    }

    @Test func `changing a list in a script does not change the configuration, and settings are read-only`() async throws {
        let body = """
            local languages = push.config.languages
            table.insert(languages, "de")
            push.config.limits.day = 99
            local is_set, failure = pcall(function() push.config.from = "23:00" end)
            push.log(#languages, #push.config.languages, push.config.limits.day, is_set, failure.code)
            """
        let line = "info 3\t2\t3\tfalse\tscript.read_only"
        #expect(try await log(body, calls: 2) == [line, line])
    }
}
