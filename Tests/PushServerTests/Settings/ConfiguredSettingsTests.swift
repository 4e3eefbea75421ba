import PushModel
import Testing

@testable import PushServer

/// Which settings a reload changes.
@Suite struct ConfiguredSettingsTests {
    private func given(_ yaml: String, flags: [String: String] = [:]) throws(PushError) -> ConfiguredSettings {
        try ConfiguredSettings(file: ("pushhost.yaml", yaml), environment: [:], flags: flags)
    }

    @Test func `Changed settings are detected, and those that can change are applied`() throws {
        var old = try given("log: { level: debug }\nlimits: { test_sends_per_minute: 10 }\nlisten: { port: 1 }", flags: ["data": "/a"])
        let new = try given("keep: { notifications: 1d }\nlisten: { port: 2 }\ndata: /b", flags: ["data": "/a"])
        // Ten is the default, and the command line's folder takes precedence over the file's.
        #expect(old.changes(in: new).map(\.name) == ["listen.port", "keep.notifications", "log.level"])
        old.takeLive(from: new)
        let settings = old.settings
        #expect(settings.logLevel == "info" && settings.keepNotifications == .seconds(86_400) && settings.port == 1)
        #expect(old.changes(in: new).map(\.name) == ["listen.port"])
    }
}
