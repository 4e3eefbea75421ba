import Bindings
import PushModel
import Testing

@testable import PushServer

@Suite struct PluginListTests {
    private static let path = "plugins/plugins.yaml"

    private static let written = """
        # asked first
        - name: quiet-hours
          grants: [hub.read]   # no more
          config:
            from: "22:00"
            limit: 3
            on: true
            zones: [a, "1"]

        # later
        - name: greet
          enabled: false
          version: "a1b2c3"
          grants:
            - kv
            - http:api.example.com
          # its end
        - name: last

        """

    @Test func `an entry has its order, grants, configuration and pin`() throws {
        let list = try PluginList(text: Self.written, path: Self.path)
        #expect(list.entries.map(\.name) == ["quiet-hours", "greet", "last"])
        #expect(list.entries.map(\.isEnabled) == [true, false, true])
        #expect(list["quiet-hours"]?.config == ["from": "22:00", "limit": 3, "on": true, "zones": ["a", "1"]])
        #expect(list["greet"]?.grants == [.kv, .http(host: "api.example.com")])
        #expect(list["greet"]?.pin == "a1b2c3")
        #expect(try PluginList(text: "", path: Self.path).entries.isEmpty)
        #expect(try PluginList(text: "# nothing yet\n", path: Self.path).entries.isEmpty)
    }

    @Test(
        arguments: [
            ("name: greet", "plugins/plugins.yaml:1: plugins must be a list"),
            ("- greet", "plugins/plugins.yaml:1: an entry must have the form"),
            ("- nam: greet", "plugins/plugins.yaml:1: unknown key \"nam\" in an entry; did you mean \"name\"?"),
            ("- name: Greet", "invalid plugin name \"Greet\""), ("- enabled: true", "an entry has no \"name\""),
            ("- name: a\n- name: a", "plugins/plugins.yaml:2: a is listed twice"),
            ("- name: a\n  enabled: maybe", "plugins/plugins.yaml:2: \"enabled\" must be true or false"),
            ("- name: a\n  grants: kv", "plugins/plugins.yaml:2: \"grants\" must be a list"),
            ("- name: a\n  grants: [kv, hub.sent]", "unknown capability \"hub.sent\"; did you mean \"hub.send\"?"),
            ("- name: a\n  version: xyz", "plugins/plugins.yaml:2: \"version\" must be the hash of a version"),
            ("- name: [", "invalid YAML"),
        ])
    func `a fault in the list is reported with its line`(text: String, expected: String) {
        let error = #expect(throws: PushError.self) { try PluginList(text: text, path: Self.path) }
        #expect(error?.code == "plugin.list")
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }

    @Test func `an edit changes only its own lines`() throws {
        func changed(_ name: String, _ edits: PluginListEditor.Edit...) throws -> String {
            try PluginListEditor(path: Self.path).changed(Self.written, name: name, edits)
        }
        #expect(try changed("greet", .enabled(true)) == Self.written.replacing("  enabled: false\n", with: ""))
        #expect(
            try changed("quiet-hours", .enabled(false))
                == Self.written.replacing("- name: quiet-hours\n", with: "- name: quiet-hours\n  enabled: false\n"))
        #expect(try changed("greet", .pin(nil)) == Self.written.replacing("  version: \"a1b2c3\"\n", with: ""))
        #expect(
            try changed("greet", .grants([.kv, .http(host: "*.example.com")]))
                == Self.written.replacing(
                    "  grants:\n    - kv\n    - http:api.example.com\n", with: "  grants: [kv, \"http:*.example.com\"]\n"))
        #expect(
            try changed("quiet-hours", .grants([.hubRead, .kv]))
                == Self.written.replacing("  grants: [hub.read]   # no more\n", with: "  grants: [hub.read, kv]\n"))
        #expect(try changed("new", .enabled(true), .grants([.kv])) == Self.written + "- name: new\n  grants: [kv]\n")
        #expect(try PluginListEditor(path: Self.path).changed("", name: "new", [.enabled(true)]) == "- name: new\n")
        #expect(
            try PluginListEditor(path: Self.path).changed("- name: a", name: "a", [.pin("abcdef")]) == "- name: a\n  version: \"abcdef\"")
    }

    @Test func `an entry in flow style is not edited`() throws {
        let flow = "[{ name: greet, enabled: false }]"
        let error = #expect(throws: PushError.self) {
            try PluginListEditor(path: Self.path).changed(flow, name: "greet", [.enabled(true)])
        }
        #expect(error?.message.contains("change it by hand") == true)
    }
}
