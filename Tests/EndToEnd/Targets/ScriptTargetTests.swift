import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// The bundled scripts, unchanged, on every kind of target.
// One after the other: each hashes many passwords, of which each takes 128 MiB.
@Suite(.serialized) struct ScriptTargetTests {
    /// A script with options that keep its run small.
    private struct Flow: Sendable, CustomTestStringConvertible {
        let name: String
        var options: [String] = []
        var testDescription: String { name }
    }

    private static let flows = [
        Flow(name: "notify_users"), Flow(name: "register_current_user"), Flow(name: "breaking_news"), Flow(name: "secure_push"),
        Flow(name: "send_test"), Flow(name: "crowd", options: ["--users", "2", "--crews", "2"]),
    ]

    /// The part of a report that does not depend on the target.
    private struct Result: Equatable {
        var verdict: String
        var steps: [String]
        var expectations: Int
        var delivered: Int
        /// The audience and the result of each send.
        var sends: [String]
        /// What the phones showed, sorted.
        var shown: [String]

        init(_ report: JSON) {
            verdict = report["verdict"]?.string ?? ""
            let all = report["steps"]?.array ?? []
            steps = all.map { "\($0["name"]?.string ?? "") \($0["status"]?.string ?? "")" }
            expectations = report["expectations"]?.int ?? -1
            delivered = report["delivered"]?.int ?? -1
            let sent = (report["sends"]?.array ?? []) + all.flatMap { $0["sends"]?.array ?? [] }
            sends = sent.map { send in
                ["to", "state"].map { send[$0]?.string ?? "" }.joined(separator: " ")
                    + " \(send["sent"]?.int ?? -1) \(send["failed"]?.int ?? -1)"
            }.sorted()
            let items = (report["shown"]?.array ?? []) + all.flatMap { $0["shown"]?.array ?? [] }
            shown = items.map { "\($0["device"]?.string ?? "") \($0["text"]?.string ?? "")" }.sorted()
        }
    }

    private static func run(
        _ flow: Flow, _ arguments: [String], environment: [String: String] = [:], in folder: URL = BuiltProgram.root
    ) async throws -> Result {
        let script = BuiltProgram.root.appending(path: "scripts/\(flow.name).lua").path
        let run = try await BuiltProgram.run(
            ["run", script, "--json"] + flow.options + arguments, in: folder, environment: environment)
        #expect(run.status == 0, "\(flow.name): \(run.errors)\(run.output.suffix(2000))")
        return Result(try JSON(parsing: run.output))
    }

    @Test func `in a server's lab the scripts have the same result as embedded, over plain HTTP and over TLS`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LAB": "on", "PUSHHOST_LAB_KEY": "let-me-in"]) { hub in
            let environment = ["PUSHHOST_LAB_KEY": "let-me-in"]
            for flow in Self.flows {
                let embedded = try await Self.run(flow, [])
                let plain = try await Self.run(flow, ["--target", "http://localhost:\(hub.port)"], environment: environment)
                #expect(plain == embedded, "\(flow.name)")
                // The previous session has left the hub unchanged.
                let secure = try await Self.run(
                    flow, ["--target", "https://localhost:\(hub.tlsPort)", "--authority", hub.authority], environment: environment)
                #expect(secure == embedded, "\(flow.name)")
            }
        }
    }

    @Test func `on the server's own machine no lab key is needed`() async throws {
        try await ServedHub.serving(settings: ["PUSHHOST_LAB": "on"]) { hub in
            let folder = hub.data.deletingLastPathComponent()
            try Data("data: \(hub.data.path)\n".utf8).write(to: folder.appending(path: "pushhost.yaml"))
            let flow = Flow(name: "notify_users")
            for environment in [[:], ["PUSHHOST_LAB_KEY": ""]] {
                let run = try await Self.run(flow, ["--target", "http://localhost:\(hub.port)"], environment: environment, in: folder)
                #expect(try await run == Self.run(flow, []))
            }
        }
    }

    @Test func `through Azure's interface with real devices, the scripts run all steps but rehearsed ones`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            let folder = try ScriptFolder()
            try folder.write(
                "pushhost.yaml", Data(Self.settings(try hub.plainConnectionString(), try hub.connectionString(), hub.authority).utf8))
            for user in ["alice", "bank", "mallory", "user1", "user2"] {
                let program = BuiltProgram.executable.path
                let added = try await BuiltProgram.shell(
                    "printf 'a long password\\n' | \(program) user add \(user) --password-stdin --data \(hub.data.path)")
                #expect(added.status == 0, "\(added.errors)")
            }
            let environment = ["PUSHHOST_SECRET_DEMO_PASSWORD": "a long password"]
            for target in ["plain", "secure"] {
                for var flow in Self.flows {
                    // There are no devices for the operator's test, so it is sent to a user.
                    if flow.name == "send_test" { flow.options = ["--to", "username:alice"] }
                    let result = try await Self.run(flow, ["--target", target], environment: environment, in: folder.url)
                    let embedded = try await Self.run(flow, [])
                    #expect(result.verdict == "pass" && result.shown.isEmpty, "\(flow.name)")
                    #expect(result.steps.map(\.stepName) == embedded.steps.map(\.stepName))
                    #expect(result.steps.contains { $0.hasSuffix(" skipped") } && !result.steps.contains { $0.hasSuffix(" failed") })
                    // Sends outside of rehearsed steps have the same result.
                    if flow.name != "send_test", flow.name != "secure_push" {
                        #expect(Set(result.sends).isSubset(of: embedded.sends), "\(flow.name) \(result.sends) \(embedded.sends)")
                    }
                }
            }
        }
    }

    /// Settings with handles for the names of the scripts' devices.
    private static func settings(_ plain: String, _ secure: String, _ authority: String) -> String {
        let subscription = """
            { endpoint: "https://updates.push.services.mozilla.com/wpush/v2/%", \
            p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", \
            auth: "BTBZMqHH6r4Tts7J_aSIgg" }
            """
        func handle(_ platform: String, _ number: Int) -> String {
            switch platform {
            case "apns": "\"\(String(repeating: "0", count: 62))\(10 + number)\""
            case "fcm": "\"\(String(repeating: "c", count: 22)):APA91b\(String(repeating: "x", count: 130))\(number)\""
            case "wns": "\"https://db3.notify.windows.com/?token=t\(number)\""
            default: subscription.replacing("%", with: "b\(number)")
            }
        }
        let devices = [
            ("alice-1", "apns"), ("alice-2", "apns"), ("ana", "apns"), ("wei", "fcm"), ("tom", "wns"), ("zoé", "browser"), ("eve", "apns"),
            ("user1-1", "wns"), ("user1-2", "browser"), ("user2-1", "browser"), ("user2-2", "apns"),
        ]
        let lines = devices.enumerated().map { number, device in
            "  \(device.0): { platform: \(device.1), handle: \(handle(device.1, number)) }"
        }
        return """
            targets:
              plain: { connection: "\(plain)", hub: hub }
              secure: { connection: "\(secure)", hub: hub, authority: "\(authority)" }
            devices:
            \(lines.joined(separator: "\n"))
            """
    }
}

extension String {
    fileprivate var stepName: Substring { self[..<(lastIndex(of: " ") ?? endIndex)] }
}
