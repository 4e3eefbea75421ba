import ArgumentParser
import Foundation
import PushLab
import PushModel
import Support
import Testing

@testable import PushHost
@testable import PushServer

/// How `--target` and the settings are interpreted, before any connection.
@Suite struct TargetPlanTests {
    private static let key = "SharedAccessKeyName=n;SharedAccessKey=a2V5"
    private static let settings = """
        listen:
          port: 8080
        targets:
          staging:
            connection: ${STAGING}
            hub: news
            backend: https://backend.example.com/app/
            timeout: 5s
            outcome_wait: 2
            production: yes
            lab_key: $LAB
            devices:
              ana: { platform: apns, handle: aa01 }
          lab-2: { url: "http://127.0.0.1:9000/" }
        devices:
          ana: { platform: fcm, handle: other }
          zoé: { platform: browser, handle: { endpoint: "https://push.example/1", p256dh: "\(p256dh)", auth: "\(auth)" } }
        """
    private static let p256dh = "B" + String(repeating: "A", count: 86)
    private static let auth = String(repeating: "a", count: 22)

    private func plan(
        _ arguments: [String], settings: String? = nil, environment: [String: String] = [:]
    ) throws -> TargetSettings? {
        let folder = try ScriptFolder()
        var arguments = arguments
        if let settings {
            try folder.write("s.yaml", Data(settings.utf8))
            arguments += ["--config", folder.url.appending(path: "s.yaml").path]
        }
        let plan = try RequestedTarget(try TargetOptions.parse(arguments), environment: environment)
        guard case .remote(let settings) = plan else { return nil }
        return settings
    }

    @Test func `Without a target everything runs in this process`() throws {
        #expect(try plan([]) == nil)
        #expect(try plan(["--target", "embedded"], environment: ["PUSHHOST_TARGET": "http://x"]) == nil)
        #expect(try plan([], environment: ["PUSHHOST_TARGET": "http://x"])?.url == "http://x")
    }

    @Test func `A named target uses the settings, and the command line overrides them`() throws {
        let environment = ["STAGING": "Endpoint=sb://ns.servicebus.windows.net/;\(Self.key)", "LAB": "secret"]
        let target = try #require(try plan(["--target", "staging"], settings: Self.settings, environment: environment))
        #expect(target.name == "staging" && target.hub == "news" && target.backend == "https://backend.example.com/app")
        #expect(target.connection?.reveal() == environment["STAGING"] && target.labKey?.reveal() == "secret" && target.isProduction)
        #expect(target.timeout == .seconds(5) && target.outcomeWait == .seconds(2))
        #expect(target.devices["ana"] == .apns(token: "AA01"))
        #expect(target.devices["zoé"] == .browser(endpoint: "https://push.example/1", p256dh: Self.p256dh, auth: Self.auth))
        let other = try #require(
            try plan(
                ["--target", "staging", "--hub", "h", "--backend", "http://b", "--authority", "a.pem"], settings: Self.settings,
                environment: environment))
        #expect(other.hub == "h" && other.backend == "http://b" && other.authority == "a.pem")
        let lab = try #require(
            try plan(["--target", "lab-2"], settings: Self.settings, environment: environment.merging(["PUSHHOST_LAB_KEY": "k"]) { $1 }))
        #expect(lab.url == "http://127.0.0.1:9000" && lab.labKey?.reveal() == "k" && lab.devices["ana"] == .fcmV1(token: "other"))
    }

    @Test func `A connection string is a target, and reports never show its key`() throws {
        let text = "Endpoint=sb://ns.servicebus.windows.net/;\(Self.key)"
        let target = try #require(try plan(["--target", text]))
        #expect(target.name == "ns.servicebus.windows.net" && target.connection?.reveal() == text)
        #expect(!"\(target)".contains("a2V5"))
        let error = try #require(throws: PushError.self) { try plan(["--target", "Endpoint=sb://x/;SharedAccessKey=a2V5"]) }
        #expect(error.code == "connection.invalid" && !"\(error)".contains("a2V5"))
    }

    @Test func `Every fault in the settings is reported with its line`() throws {
        let settings = """
            targets:
              a: { conection: x, production: perhaps }
              b: { connection: $NOT_SET }
              embedded: { url: "http://x" }
              c: { url: "ftp://x", devices: { d: { platform: nokia, handle: x }, e: { platform: apns, handle: xyz } } }
              d:
              f: { url: "http://x:99999" }
              g: { url: "http://x", connection: "Endpoint=sb://y/;SharedAccessKeyName=a;SharedAccessKey=b" }
            """
        let error = try #require(throws: PushError.self) { try plan(["--target", "a"], settings: settings) }
        #expect(error.code == "settings.invalid")
        let faults = error.details["faults"]?.array?.compactMap { $0.string?.split(separator: "s.yaml:").last.map(String.init) } ?? []
        #expect(
            faults == [
                "2: unknown key \"conection\" in a target; did you mean \"connection\"?",
                "2: \"production\" must be true or false",
                "2: the target \"a\" has neither url nor connection",
                "4: a target name may contain letters, digits, - and _, and must not be embedded",
                "5: \"url\" must be an address such as https://push.example.com",
                "5: the device \"d\" must contain only platform (apns, fcm, gcm, wns, browser) and handle",
                "5: the device \"e\": APNs handle is not hexadecimal of even length",
                "6: the target \"d\" must contain url or connection",
                "7: \"url\" must be an address such as https://push.example.com",
                "8: the target \"g\" has url and connection: set one of them",
            ])
    }

    @Test func `An unset variable is an error only for its own target, and errors never quote the file`() throws {
        let settings = "targets:\n  a: { connection: $NOT_SET }\n  b: { url: \"http://x\" }\n"
        #expect(try plan(["--target", "b"], settings: settings)?.url == "http://x")
        let error = try #require(throws: PushError.self) { try plan(["--target", "a"], settings: settings) }
        #expect(error.code == "settings.invalid" && error.message.hasSuffix("s.yaml:2: the variable NOT_SET for \"connection\" is not set"))
        let broken = try #require(throws: PushError.self) {
            try plan(["--target", "b"], settings: "targets:\n  a: { connection: \"SharedAccessKey=SECRET\" ]\n")
        }
        #expect(broken.message.contains("s.yaml:2: invalid YAML") && !"\(broken)".contains("SECRET"))
    }

    @Test(arguments: [
        (["--target", "stagin"], "usage.target", "unknown target \"stagin\"; did you mean \"staging\"?"),
        (["--target", "http://"], "usage.target", "invalid address of a PushHost: \"http://\""),
        (["--target", "ftp://x"], "usage.target", "invalid address of a PushHost: \"ftp://x\""),
        (["--target", "http://localhost:99999"], "usage.target", "invalid address of a PushHost: \"http://localhost:99999\""),
        (["--target", "http://[::1"], "usage.target", "invalid address of a PushHost: \"http://[::1\""),
        (["--target", "http://x", "--backend", "http://x:80x"], "usage.value", "--backend: invalid address \"http://x:80x\""),
        (["--target", "http://x", "--backend", "b"], "usage.value", "--backend: invalid address \"b\""),
        (["--hub", "h"], "usage.value", "--hub applies to remote targets only, and this run is embedded"),
    ])
    func `An invalid target is rejected with a suggestion`(arguments: [String], code: String, message: String) throws {
        let error = try #require(throws: PushError.self) {
            try plan(arguments, settings: Self.settings, environment: ["STAGING": "x", "LAB": "y"])
        }
        #expect(error.code == code && error.message == message)
    }

    @Test func `A server with the same settings file ignores targets`() throws {
        let settings = SettingsFile(text: Self.settings)
        #expect(settings.faults.isEmpty && settings.values.map(\.setting.name) == ["listen.port"])
    }
}
