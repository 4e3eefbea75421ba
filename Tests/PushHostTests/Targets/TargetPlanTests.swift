import ArgumentParser
import Foundation
import PushCore
import Testing

@testable import PushHost

/// What `--target` and the settings mean, before anything is reached.
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
        let plan = try TargetPlan(try TargetOptions.parse(arguments), environment: environment)
        guard case .remote(let settings) = plan else { return nil }
        return settings
    }

    @Test func `Without a target everything is in this process`() throws {
        #expect(try plan([]) == nil)
        #expect(try plan(["--target", "embedded"], environment: ["PUSHHOST_TARGET": "http://x"]) == nil)
        #expect(try plan([], environment: ["PUSHHOST_TARGET": "http://x"])?.url == "http://x")
    }

    @Test func `A name takes what the settings say, and the command line says more`() throws {
        let environment = ["STAGING": "Endpoint=sb://ns.servicebus.windows.net/;\(Self.key)", "LAB": "secret"]
        let target = try #require(try plan(["--target", "staging"], settings: Self.settings, environment: environment))
        #expect(target.name == "staging" && target.hub == "news" && target.backend == "https://backend.example.com/app")
        #expect(target.connection?.reveal() == environment["STAGING"] && target.labKey?.reveal() == "secret" && target.isProduction)
        #expect(target.timeout == .seconds(5) && target.patience == .seconds(2))
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

    @Test func `A connection string is a target, and no report shows its key`() throws {
        let text = "Endpoint=sb://ns.servicebus.windows.net/;\(Self.key)"
        let target = try #require(try plan(["--target", text]))
        #expect(target.name == "ns.servicebus.windows.net" && target.connection?.reveal() == text)
        #expect(!"\(target)".contains("a2V5"))
        let error = try #require(throws: PushError.self) { try plan(["--target", "Endpoint=sb://x/;SharedAccessKey=a2V5"]) }
        #expect(error.code == "connection.invalid" && !"\(error)".contains("a2V5"))
    }

    @Test func `Every fault of the settings is told with its line`() throws {
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
                "2: a target has no \"conection\"; did you mean \"connection\"?",
                "2: \"production\" takes true or false",
                "2: the target \"a\" has neither url nor connection",
                "4: the name of a target has letters, digits, - and _, and is not embedded",
                "5: \"url\" takes an address such as https://push.example.com",
                "5: the device \"d\" takes platform (apns, fcm, gcm, wns, browser) and handle, nothing else",
                "5: the device \"e\": APNs handle is not hexadecimal of even length",
                "6: the target \"d\" holds url or connection, and more",
                "7: \"url\" takes an address such as https://push.example.com",
                "8: the target \"g\" has url and connection, which may be two places: it takes one",
            ])
    }

    @Test func `A variable that is not set is missed by its own target alone, and no error repeats a line of the file`() throws {
        let settings = "targets:\n  a: { connection: $NOT_SET }\n  b: { url: \"http://x\" }\n"
        #expect(try plan(["--target", "b"], settings: settings)?.url == "http://x")
        let error = try #require(throws: PushError.self) { try plan(["--target", "a"], settings: settings) }
        #expect(error.code == "settings.invalid" && error.message.hasSuffix("s.yaml:2: the variable NOT_SET for \"connection\" is not set"))
        let broken = try #require(throws: PushError.self) {
            try plan(["--target", "b"], settings: "targets:\n  a: { connection: \"SharedAccessKey=SECRET\" ]\n")
        }
        #expect(broken.message.contains("s.yaml:2: this is not YAML") && !"\(broken)".contains("SECRET"))
    }

    @Test(arguments: [
        (["--target", "stagin"], "usage.target", "there is no target \"stagin\"; did you mean \"staging\"?"),
        (["--target", "http://"], "usage.target", "\"http://\" is no address of a PushHost"),
        (["--target", "ftp://x"], "usage.target", "\"ftp://x\" is no address of a PushHost"),
        (["--target", "http://localhost:99999"], "usage.target", "\"http://localhost:99999\" is no address of a PushHost"),
        (["--target", "http://[::1"], "usage.target", "\"http://[::1\" is no address of a PushHost"),
        (["--target", "http://x", "--backend", "http://x:80x"], "usage.value", "--backend \"http://x:80x\" is no address"),
        (["--target", "http://x", "--backend", "b"], "usage.value", "--backend \"b\" is no address"),
        (["--hub", "h"], "usage.value", "--hub is for a target on another machine, and this run is embedded"),
    ])
    func `What is no target is refused with what there is`(arguments: [String], code: String, message: String) throws {
        let error = try #require(throws: PushError.self) {
            try plan(arguments, settings: Self.settings, environment: ["STAGING": "x", "LAB": "y"])
        }
        #expect(error.code == code && error.message == message)
    }

    @Test func `A server that shares the file of settings does not look at targets`() throws {
        let settings = SettingsFile(text: Self.settings)
        #expect(settings.faults.isEmpty && settings.values.map(\.setting.name) == ["listen.port"])
    }
}
