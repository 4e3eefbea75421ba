import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// Invalid tokens, and tokens of the other environment, as the operator of a server sees them.
@Suite struct PrunedServingTests {
    private static func install(_ number: Int, at hub: ServedHub) async throws {
        let handle = String(repeating: "0", count: 56) + String(10_000_000 + number)
        let body =
            #"{"installationId": "pad-\#(number)", "platform": "apns", "userId": "ana", "pushChannel": "\#(handle)", "tags": ["news"], "#
            + #""templates": {"t": {"body": "{\"aps\": {\"alert\": \"$(message)\"}}"}}}"#
        #expect(try await hub.call("PUT", "/hub/installations/pad-\(number)?api-version=2020-06", body: body).status == 200)
    }

    private static func refuse(_ reason: String, _ count: Int, at hub: ServedHub) async throws {
        let body = Array(#"{"reason": "\#(reason)", "count": \#(count)}"#.utf8)
        let answer = try await WireAnswer.exchange("POST", "/faults/apns", [], body: body, port: try #require(hub.simulatorPort))
        #expect(answer.status == 200, "\(answer.body)")
    }

    /// Prints the path, the signature and the body of each request, and accepts it.
    private static let receiver = """
        import http.server, sys
        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length'])).decode()
                print(self.path, self.headers['PushHost-Signature'], body, flush=True)
                self.send_response(204)
                self.end_headers()
            def log_message(self, *words): pass
        server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Receiver)
        print('port', server.server_port, 'listens', flush=True)
        server.serve_forever()
        """

    @Test func `removed devices are reported to the app's backend, listed, counted, and can be restored`() async throws {
        let folder = try ScriptFolder()
        let receiver = try Dialogue(["-u", "-c", Self.receiver, "0"], tool: "/usr/bin/python3", in: folder.url)
        let port = try #require(try await receiver.hear("listens").firstMatch(of: /port (\d+)/)?.1)
        let settings = [
            "PUSHHOST_FEEDBACK_WEBHOOK": "http://127.0.0.1:\(port)/gone", "PUSHHOST_FEEDBACK_SECRET": "a secret of the test",
        ]
        try await ServedHub.serving(isSimulated: true, settings: settings) { hub in
            for number in 1...3 { try await Self.install(number, at: hub) }
            try await Self.refuse("Unregistered", 2, at: hub)
            let sent = try await hub.command(["send", "Goal", "--to", "news"])
            #expect(sent.output.contains("1 of 3 sent · 2 failed"), "\(sent.output)\(sent.errors)")
            #expect(sent.output.contains("removed because their tokens are invalid: 2 Unregistered"), "\(sent.output)")
            let told = try await receiver.hear(#""installationId":"pad-2""#)
            #expect(told.contains("/gone t=") && told.contains(#""event":"pruned""#) && told.contains(#""userId":"ana""#), "\(told)")

            let list = try await hub.command(["pruned", "list", "--reason", "Unregistered"])
            #expect(list.output.contains("pad-1") && list.output.contains("pad-2") && !list.output.contains("pad-3"), "\(list.output)")
            let metrics = try await hub.call("GET", "/metrics", by: nil).body
            #expect(metrics.contains(#"pushhost_registrations_pruned_total{hub="hub",platform="apns",reason="Unregistered"} 2"#))

            let usage = try await hub.command(["pruned", "restore"])
            #expect(usage.status == 2 && usage.errors.contains("no devices selected"), "\(usage.errors)")
            let dryRun = try await hub.command(["pruned", "restore", "--all", "--dry-run"])
            #expect(dryRun.output == "2 devices would be restored; nothing was changed\n", "\(dryRun.errors)")
            let back = try await hub.command(["pruned", "restore", "--reason", "Unregistered"])
            #expect(back.output == "✓ 2 devices restored\n", "\(back.errors)")
            #expect(try await hub.command(["pruned", "list"]).output == "no removed devices\n")
            #expect(try await hub.command(["send", "Goal", "--to", "news"]).output.contains("3 of 3 sent"))
            try await receiver.hear(#""event":"restored""#)
        }
        receiver.signal(SIGKILL)
        _ = await receiver.end(closingInput: false)
    }

    @Test func `a failing webhook is counted, reported by the doctor, and retried until it works`() async throws {
        let port = try FreePort.any()
        let settings = [
            "PUSHHOST_FEEDBACK_WEBHOOK": "http://127.0.0.1:\(port)/secret-path", "PUSHHOST_FEEDBACK_SECRET": "a secret of the test",
        ]
        try await ServedHub.serving(isSimulated: true, settings: settings.merging(["PUSHHOST_LOG_LEVEL": "warning"]) { $1 }) { hub in
            func metric(_ name: String) async throws -> Int? {
                let line = try await hub.call("GET", "/metrics", by: nil).body.split(separator: "\n").first { $0.hasPrefix(name) }
                return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
            }
            func doctor() async throws -> String { try await hub.command(["doctor"], environment: settings).output }
            let idle = try await doctor()
            #expect(
                idle.contains("✗ webhook       http://127.0.0.1:\(port) is not reachable\n    help        allow outgoing connections"),
                "\(idle)")
            #expect(try await metric(#"pushhost_webhook_waiting{hub="hub"}"#) == 0)

            for number in 1...2 { try await Self.install(number, at: hub) }
            try await Self.refuse("Unregistered", 2, at: hub)
            _ = try await hub.command(["send", "Goal", "--to", "news"])
            // Every attempt counts, not only the first of a series.
            try await until { try await metric("pushhost_webhook_failures_total") ?? 0 >= 2 }
            #expect(try await metric(#"pushhost_webhook_waiting{hub="hub"}"#) == 2)
            let failing = try await doctor()
            #expect(failing.contains("✗ webhook       http://127.0.0.1:\(port) has accepted no reports since 20"), "\(failing)")
            #expect(failing.contains("; 2 removals to report, next attempt at 20"), "\(failing)")
            #expect(!failing.contains("secret-path") && !failing.contains("a secret of the test"), "\(failing)")
            #expect(failing.contains("check that the app's backend is running, and its answers"), "\(failing)")

            let folder = try ScriptFolder()
            let receiver = try Dialogue(["-u", "-c", Self.receiver, "\(port)"], tool: "/usr/bin/python3", in: folder.url)
            try await receiver.hear(#""installationId":"pad-2""#)
            try await hub.hear("feedback.webhook failed: ")
            try await until { try await metric(#"pushhost_webhook_waiting{hub="hub"}"#) == 0 }
            let back = try await doctor()
            #expect(back.contains("✓ webhook       http://127.0.0.1:\(port) is reachable, no removals to report"), "\(back)")
            receiver.signal(SIGKILL)
            _ = await receiver.end(closingInput: false)
        }
    }

    @Test func `tokens of the wrong environment are reported by the send, the log, the metrics and the doctor`() async throws {
        try await ServedHub.serving(isSimulated: true, settings: ["PUSHHOST_LOG_LEVEL": "warning"]) { hub in
            for number in 1...30 { try await Self.install(number, at: hub) }
            let well = try await hub.command(["doctor"])
            #expect(
                well.output.contains("no push service is paused, and no tokens of the wrong environment were found"),
                "\(well.output)")
            try await Self.refuse("BadDeviceToken", 30, at: hub)
            let sent = try await hub.command(["send", "Goal", "--to", "news"])
            #expect(sent.output.contains("notice  APNs: most tokens are for another environment: "), "\(sent.output)\(sent.errors)")
            #expect(sent.output.contains("change the endpoint of the APNs credential"), "\(sent.output)")
            let log = try await hub.hear("no invalid handle is removed meanwhile")
            #expect(log.contains("hub \"hub\": APNs: most tokens are for another environment"), "\(log)")
            #expect(try await hub.call("GET", "/metrics", by: nil).body.contains(#"pushhost_mixed_up{hub="hub",platform="apns"} 1"#))
            let doctor = try await hub.command(["doctor"])
            #expect(
                doctor.status == 1 && doctor.output.contains("hub hub: APNs: most tokens are for another environment"), "\(doctor.output)")
            #expect(try await hub.command(["hub", "show"]).output.contains("issue"))

            try await Self.refuse("Unregistered", 1, at: hub)
            _ = try await hub.command(["send", "Goal", "--to", "$InstallationId:{pad-1}"])
            #expect(try await hub.command(["pruned", "list"]).output == "no removed devices\n")
        }
    }
}
