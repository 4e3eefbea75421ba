import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// A send bound to a plan, on a server that is killed between acceptance and delivery.
@Suite struct PlanKillTests {
    private static func serve(_ folder: ScriptFolder, simulators: String) async throws -> Dialogue {
        let server = try Dialogue(
            ["serve", "--port", "0", "--tls-port", "none", "--data", "data", "--simulators", simulators], in: folder.url,
            environment: ["PUSHHOST_LOG_LEVEL": "error"])
        try await server.hear("Press Ctrl-C to stop.")
        return server
    }

    private static func json(_ folder: ScriptFolder, _ arguments: [String]) async throws -> JSON {
        let program = try await BuiltProgram.run(arguments + ["--data", "data", "--json"], in: folder.url)
        try #require(program.status == 0, "\(program.output)\(program.errors)")
        return try #require(try JSON(parsing: program.output)["result"])
    }

    private static func install(_ folder: ScriptFolder, _ numbers: ClosedRange<Int>) async throws {
        for number in numbers {
            let token = String(repeating: "i", count: 22) + ":" + "pad-\(number)".padding(toLength: 140, withPad: "_", startingAt: 0)
            let body = """
                {"installationId": "pad-\(number)", "platform": "fcmv1", "pushChannel": "\(token)", "tags": ["a"], "templates":
                 {"t": {"body": "{\\"message\\": {\\"notification\\": {\\"body\\": \\"$(message)\\"}}}"}}}
                """
            let put = try await BuiltProgram.shell(
                "curl -s --fail --unix-socket data/pushhost.sock -X PUT 'http://localhost/hub/installations/pad-\(number)?api-version=2020-06' -d '\(body)'",
                in: folder.url)
            try #require(put.status == 0, "\(put.output)\(put.errors)")
        }
    }

    @Test func `After a kill the next process reaches only the devices of the plan`() async throws {
        _ = OpenFileLimit.raised
        let folder = try ScriptFolder()
        // Nothing answers there, so that nothing is delivered before the kill.
        let first = try await Self.serve(folder, simulators: "http://127.0.0.1:1")
        try await Self.install(folder, 1...3)
        #expect(try await Self.json(folder, ["plan", "Goal", "--to", "a"])["total"] == 3)
        // Waits for results that do not come if its time has passed when the server accepts it.
        let sender = try Dialogue(["send", "--plan", "p-0001", "--at", "1s", "--data", "data"], in: folder.url)
        try await until { try await Self.json(folder, ["notification", "list"])["items"]?.array?.isEmpty == false }
        let sent = try await Self.json(folder, ["notification", "list"])
        let id = try #require(sent["items"]?.array?.first?["notificationId"]?.string)
        try await Self.install(folder, 4...5)
        first.signal(SIGKILL)
        _ = await first.end(closingInput: false)
        sender.signal(SIGKILL)
        _ = await sender.end(closingInput: false)

        let simulators = try await SimulatorBench(["--adopt"])
        do {
            let second = try await Self.serve(folder, simulators: "http://127.0.0.1:\(simulators.port)")
            try await until { try await Self.json(folder, ["notification", "show", id])["state"] == "Completed" }
            let outcomes = try await Self.json(folder, ["notification", "show", id])["outcomes"]
            #expect(outcomes == ["fcm": ["Success": 3]])
            second.signal(SIGTERM)
            #expect(await second.end(closingInput: false).status == 0)
        } catch {
            _ = await simulators.end()
            throw error
        }
        _ = await simulators.end()
    }
}
