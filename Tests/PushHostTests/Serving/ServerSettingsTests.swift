import FoundationEssentials
import PushCore
import Testing
import WebAPI

@testable import PushHost

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

    @Test func `Without anything the server listens on this machine alone`() throws {
        let settings = try settings()
        #expect(settings.host == "127.0.0.1" && settings.port == 8080 && settings.tlsPort == 8443)
        #expect(settings.data == "pushhost-data" && settings.simulators == nil)
    }

    @Test func `A file, the environment and options lie over one another`() throws {
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
            """
        let settings = try settings(
            yaml, environment: ["PUSHHOST_LISTEN_PORT": "2", "PUSHHOST_DATA": "/b", "PUSHHOST_OTHER": "x"],
            flags: ["data": "/c"])
        #expect(settings.host == "0.0.0.0" && settings.port == 2 && settings.tlsPort == nil && settings.data == "/c")
        #expect(settings.keepNotifications == .seconds(12 * 3600))
        #expect(settings.certificateNames == ["push.example", "10.0.0.1"])
        #expect(settings.requestsPerMinute == 600 && settings.testSendsPerMinute == nil)
    }

    @Test func `An empty file is none`() throws {
        for text in ["", "# nothing\n", "---\n"] { #expect(try settings(text) == settings()) }
    }

    @Test(arguments: [("20%", 0.2), ("0", 0), ("100 %", 1), ("12.5%", 0.125)])
    func `The share of removed devices is a percentage`(text: String, share: Double) throws {
        #expect(try settings("feedback: { max_removed_share: \"\(text)\" }").feedback.maxRemovedShare == share)
    }

    @Test(arguments: ["-1%", "101%", "0.2.1", "%", "none", "nan", "inf%", "20 % of all"])
    func `A share beyond 0% to 100% is refused`(text: String) {
        #expect(
            faults("feedback: { max_removed_share: \"\(text)\" }")
                == "pushhost.yaml:1: \"feedback.max_removed_share\" takes percentage from 0% to 100%")
    }

    @Test func `Every fault is listed, with its line and the nearest name`() {
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
                7 settings are wrong
                  pushhost.yaml:2: there is no setting "listen.prot"; did you mean "listen.port"?
                  pushhost.yaml:3: "listen.port" takes 0 to 65535, or none
                  pushhost.yaml:4: "log.level" takes debug, info, notice, warning, error
                  pushhost.yaml:5: there is no setting "dta"; did you mean "data"?
                  pushhost.yaml:6: "jobs" holds further settings, not a value
                  PUSHHOST_LISTEN_TLS_PORT: "70000" does not fit: it takes 0 to 65535, or none
                  --simulators: "there" does not fit: it takes http:// or https:// address
                """)
    }

    @Test(
        arguments: [
            ("listen: [", "pushhost.yaml:"),
            ("data: a\nlab: on\ndata: b", "pushhost.yaml:1: this is not YAML: \"data\" is there more than once"),
            ("just text", "pushhost.yaml:1: settings are written as name: value"),
            ("tls: { certificate: a.pem }", "tls.certificate and tls.key belong together"),
            ("listen: { port: none, tls_port: none }", "the server would listen nowhere"),
            ("data: ''", "\"data\" takes text"), ("tls: { names: { a: b } }", "\"tls.names\" takes list of texts"),
            ("data: [a, b]", "\"data\" takes text"), ("keep: { notifications: -1d }", "\"keep.notifications\" takes duration"),
        ])
    func `What cannot be meant is refused`(yaml: String, expected: String) {
        #expect(faults(yaml)?.contains(expected) == true, "\(faults(yaml) ?? "nothing")")
    }

    @Test(
        arguments: [
            ("PUSHHOST_LISTEN_PROT", "9000", "did you mean PUSHHOST_LISTEN_PORT?"),
            ("PUSHHOST_TLS_PORT", "none", "did you mean PUSHHOST_LISTEN_TLS_PORT?"),
            ("PUSHHOST_PORT", "9000", "did you mean PUSHHOST_LISTEN_PORT?"), ("PUSHHOST_DTA", "x", "did you mean PUSHHOST_DATA?"),
            // What Kubernetes sets for a service of this name, and what commands read.
            ("PUSHHOST_PORT", "tcp://10.0.0.1:8080", nil), ("PUSHHOST_SERVICE_HOST", "10.0.0.1", nil),
            ("PUSHHOST_CONNECTION", "x", nil), ("PUSHHOST_SECRET_APNS", "x", nil), ("OTHER_LISTEN_PORT", "1", nil),
        ])
    func `A variable that is nearly a setting is named, and is no fault`(name: String, value: String, expected: String?) throws {
        let misspelt = try GivenSettings(file: nil, environment: [name: value], flags: [:]).misspelt
        #expect(misspelt.count == (expected == nil ? 0 : 1), "\(misspelt)")
        if let expected { #expect(misspelt.first?.hasSuffix(expected) == true, "\(misspelt)") }
    }

    @Test func `Settings have names of their own, each explained, and the page of the documentation is new`() throws {
        let names = ServerSettings.all.map(\.name)
        #expect(Set(names).count == names.count)
        for setting in ServerSettings.all {
            #expect(setting.explanation.hasSuffix("."), "\(setting.name)")
            if let standard = setting.standard { #expect(setting.value(standard) != nil, "\(setting.name)") }
        }
        // What is written as the default is the default.
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

    @Test func `What hubs accept from clients is set beside the name of the first hub, or below it`() throws {
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
            ("hub.empty_tags: everybody", "\"hub.empty_tags\" takes refuse, everyone"),
            ("hub: { listen_user_id: off }", "\"hub.listen_user_id\" takes accept, refuse"),
            ("hub: { empty_tag: refuse }", "there is no setting \"hub.empty_tag\"; did you mean \"hub.empty_tags\"?"),
        ] {
            #expect(faults(yaml)?.contains(expected) == true, "\(faults(yaml) ?? "nothing")")
        }
    }

    @Test func `The lab is a word or a port, and a word that says off is stronger`() throws {
        for (yaml, flags, isLab, port) in [
            ("lab: on", [:], true, nil), ("lab: { port: 8090 }", [:], true, 8090), ("lab:\n  port: 0", ["lab": "off"], false, 0),
            ("", [:], false, nil), ("", ["lab": "on"], true, nil),
        ] as [(String, [String: String], Bool, Int?)] {
            let settings = try settings(yaml, flags: flags)
            #expect(settings.isLab == isLab && settings.labPort == port, "\(yaml)")
        }
        #expect(faults("lab: { port: x }")?.contains("\"lab.port\" takes") == true)
        #expect(faults("lab: on\nsimulators: http://a:1")?.contains("exclude each other") == true)
    }
}
