import FoundationEssentials
import PushModel
import Testing
import WebAPI

@testable import PushServer

@Suite struct ServerSettingsTests {
    private func settings(
        _ yaml: String? = nil, environment: [String: String] = [:], flags: [String: String] = [:]
    ) throws(PushError) -> ServerSettings {
        try ServerSettings(file: yaml.map { ("pushhost.yaml", $0) }, environment: environment, flags: flags)
    }

    private func faults(
        _ yaml: String? = nil, environment: [String: String] = [:], flags: [String: String] = [:]
    ) -> String? {
        do throws(PushError) {
            _ = try settings(yaml, environment: environment, flags: flags)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `By default the server listens only on this machine`() throws {
        let settings = try settings()
        #expect(settings.host == "127.0.0.1" && settings.port == 8080 && settings.tlsPort == 8443)
        #expect(settings.data == "pushhost-data" && settings.simulators == nil)
    }

    @Test func `Options override the environment, which overrides the file`() throws {
        let yaml = """
            listen:
              host: 0.0.0.0
              port: 1
              tls_port: none
            data: /a
            keep: { notifications: 12h }
            tls: { names: [push.example, 10.0.0.1] }
            limits:
              requests_per_minute: 600
              test_sends_per_minute: none
              concurrent_notifications: none
            """
        let settings = try settings(
            yaml, environment: ["PUSHHOST_LISTEN_PORT": "2", "PUSHHOST_DATA": "/b", "PUSHHOST_OTHER": "x"],
            flags: ["data": "/c"])
        #expect(settings.host == "0.0.0.0" && settings.port == 2 && settings.tlsPort == nil && settings.data == "/c")
        #expect(settings.keepNotifications == .seconds(12 * 3600))
        #expect(settings.certificateNames == ["push.example", "10.0.0.1"])
        #expect(settings.requestsPerMinute == 600 && settings.testSendsPerMinute == nil && settings.concurrentNotifications == .max)
    }

    @Test func `An empty settings file is valid`() throws {
        for text in ["", "# nothing\n", "---\n"] { #expect(try settings(text) == settings()) }
    }

    @Test(arguments: [("20%", 0.2), ("0", 0), ("0%", 0), ("100 %", 1), ("12.5%", 0.125), ("012.50%", 0.125)])
    func `The share of removed devices is a percentage`(text: String, share: Double) throws {
        #expect(try settings("feedback: { max_removed_share: \"\(text)\" }").feedback.maxRemovedShare == share)
    }

    @Test(arguments: [
        "-1%", "101%", "0.2.1", "%", "none", "nan", "inf%", "20 % of all", "0x10%", "1e1%", "+5%", "-0%", ".5%", "5.%", "0.2", "20",
        "20  %", "٢%", "100.1%",
    ])
    func `A share outside of 0% to 100% is rejected`(text: String) {
        #expect(
            faults("feedback: { max_removed_share: \"\(text)\" }")
                == "pushhost.yaml:1: \"feedback.max_removed_share\" must be a percentage from 0% to 100%")
    }

    @Test func `Every fault is listed with its line and the nearest name`() {
        let yaml = """
            listen:
              prot: 80
              port: high
            log: { level: loud }
            dta: x
            jobs: here
            """
        #expect(
            faults(yaml, environment: ["PUSHHOST_LISTEN_TLS_PORT": "70000"], flags: ["simulators": "there"])
                == """
                7 settings are invalid
                  pushhost.yaml:2: unknown setting "listen.prot"; did you mean "listen.port"?
                  pushhost.yaml:3: "listen.port" must be 0 to 65535, or none
                  pushhost.yaml:4: "log.level" must be one of debug, info, notice, warning, error
                  pushhost.yaml:5: unknown setting "dta"; did you mean "data"?
                  pushhost.yaml:6: "jobs" is a group of settings and has no value
                  PUSHHOST_LISTEN_TLS_PORT: invalid value "70000"; must be 0 to 65535, or none
                  --simulators: invalid value "there"; must be an http:// or https:// address
                """)
    }

    @Test(
        arguments: [
            ("listen: [", "pushhost.yaml:"),
            ("data: a\nlab: on\ndata: b", "pushhost.yaml:1: invalid YAML (\"data\" occurs more than once)"),
            ("just text", "pushhost.yaml:1: settings must have the form name: value"),
            ("tls: { certificate: a.pem }", "tls.certificate and tls.key belong together"),
            ("listen: { port: none, tls_port: none }", "listen.port and listen.tls_port are both none"),
            ("data: ''", "\"data\" must be a string"), ("tls: { names: { a: b } }", "\"tls.names\" must be a list of strings"),
            ("data: [a, b]", "\"data\" must be a string"), ("keep: { notifications: -1d }", "\"keep.notifications\" must be a duration"),
        ])
    func `Invalid settings are rejected`(yaml: String, expected: String) {
        #expect(faults(yaml)?.contains(expected) == true, "\(faults(yaml) ?? "nothing")")
    }

    @Test(
        arguments: [
            ("PUSHHOST_LISTEN_PROT", "9000", "did you mean PUSHHOST_LISTEN_PORT?"),
            ("PUSHHOST_TLS_PORT", "none", "did you mean PUSHHOST_LISTEN_TLS_PORT?"),
            ("PUSHHOST_PORT", "9000", "did you mean PUSHHOST_LISTEN_PORT?"), ("PUSHHOST_DTA", "x", "did you mean PUSHHOST_DATA?"),
            // Variables that Kubernetes sets for a service of this name, and those that commands read.
            ("PUSHHOST_PORT", "tcp://10.0.0.1:8080", nil), ("PUSHHOST_SERVICE_HOST", "10.0.0.1", nil),
            ("PUSHHOST_CONNECTION", "x", nil), ("PUSHHOST_SECRET_APNS", "x", nil), ("OTHER_LISTEN_PORT", "1", nil),
        ])
    func `A misspelled variable is reported but is not a fault`(name: String, value: String, expected: String?) throws {
        let misspelt = try ConfiguredSettings(file: nil, environment: [name: value], flags: [:]).misspelt
        #expect(misspelt.count == (expected == nil ? 0 : 1), "\(misspelt)")
        if let expected { #expect(misspelt.first?.hasSuffix(expected) == true, "\(misspelt)") }
    }

    @Test func `Setting names are unique and explained, and the reference page is up to date`() throws {
        let names = ServerSettings.all.map(\.name)
        #expect(Set(names).count == names.count)
        for setting in ServerSettings.all {
            #expect(setting.explanation.hasSuffix("."), "\(setting.name)")
            if let standard = setting.standard { #expect(setting.value(standard) != nil, "\(setting.name)") }
        }
        // The documented defaults are the actual defaults.
        var standard = ServerSettings()
        for setting in ServerSettings.all {
            if let value = setting.standard.flatMap(setting.value) { setting.apply(&standard, value) }
        }
        #expect(standard == ServerSettings())
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/reference/settings.md"), encoding: .utf8)
        #expect(page == SettingsReference.text, "make docs writes it")
    }

    @Test func `Client policies of hubs are set beside the first hub's name or below it`() throws {
        #expect(try settings().clients == ClientPolicy(emptyTags: .refuse, listenUserID: .accept))
        let changed = ClientPolicy(emptyTags: .everyone, listenUserID: .refuse)
        let beside = try settings("hub: news\nhub.empty_tags: everyone\nhub.listen_user_id: refuse")
        #expect(beside.clients == changed && beside.hub == "news")
        let below = try settings("hub: { empty_tags: everyone, listen_user_id: refuse }")
        #expect(below.clients == changed && below.hub == "hub")
        let variables = ["PUSHHOST_HUB": "news", "PUSHHOST_HUB_EMPTY_TAGS": "everyone", "PUSHHOST_HUB_LISTEN_USER_ID": "refuse"]
        let given = try settings(environment: variables)
        #expect(given.clients == changed && given.hub == "news")
        for (yaml, expected) in [
            ("hub.empty_tags: everybody", "\"hub.empty_tags\" must be one of refuse, everyone"),
            ("hub: { listen_user_id: off }", "\"hub.listen_user_id\" must be one of accept, refuse"),
            ("hub: { empty_tag: refuse }", "unknown setting \"hub.empty_tag\"; did you mean \"hub.empty_tags\"?"),
        ] {
            #expect(faults(yaml)?.contains(expected) == true, "\(faults(yaml) ?? "nothing")")
        }
    }

    @Test func `The lab setting is on, off or a port, and the option off overrides a port`() throws {
        for (yaml, flags, isLab, port) in [
            ("lab: on", [:], true, nil), ("lab: { port: 8090 }", [:], true, 8090), ("lab:\n  port: 0", ["lab": "off"], false, 0),
            ("", [:], false, nil), ("", ["lab": "on"], true, nil),
        ] as [(String, [String: String], Bool, Int?)] {
            let settings = try settings(yaml, flags: flags)
            #expect(settings.isLab == isLab && settings.labPort == port, "\(yaml)")
        }
        #expect(faults("lab: { port: x }")?.contains("\"lab.port\" must be") == true)
        #expect(faults("lab: on\nsimulators: http://a:1")?.contains("cannot be combined") == true)
    }
}
