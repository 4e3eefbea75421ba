import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// `pushhost simulate apns` with third-party clients.
@Suite struct SimulateAPNsTests {
    private static let fields =
        "-H \"authorization: bearer $TOKEN\" -H 'apns-topic: dev.pushhost.simulated' -H 'apns-push-type: alert'"
    private static let token = String(repeating: "ab", count: 32)

    /// A push with curl that prints the response with its status.
    private static func push(_ more: String = "", to token: String = token, host: String = "api.push.apple.com") -> String {
        "curl -sSi --http2 --cacert sim/certificate.pem --connect-to ::127.0.0.1:${APNS##*:} \(fields) \(more) "
            + "-d '{\"aps\":{\"alert\":\"Hello\"}}' https://\(host)/3/device/\(token)"
    }

    @Test func `curl reaches a phone in either environment, with the folder's certificate`() async throws {
        let apns = try await SimulatorProgram(["--adopt"])
        let first = try await apns.shell(Self.push())
        #expect(first.output.hasPrefix("HTTP/2 200"), "\(first.output)\(first.errors)")
        #expect(first.output.contains("apns-id: "))
        let other = try await apns.shell(Self.push(host: "api.sandbox.push.apple.com"))
        #expect(other.output.hasPrefix("HTTP/2 400") && other.output.contains(#"{"reason":"BadDeviceToken"}"#), "\(other.output)")
        let test = try await apns.shell(Self.push(to: String(repeating: "cd", count: 32), host: "api.development.push.apple.com"))
        #expect(test.output.hasPrefix("HTTP/2 200") && test.output.contains("apns-unique-id: "), "\(test.output)")
        let inbox = try #require(try await apns.control("GET", "/phones/\(Self.token)")["inbox"]?.array)
        #expect(inbox.map { $0["text"]?.string } == ["Hello"])
        #expect(try await apns.control("GET", "/connections")["requests"]?.int == 3)
        // The control plane is available on this port too.
        let health = try await apns.shell("curl -sS --http2 --cacert sim/certificate.pem $APNS/health/live")
        #expect(health.output == #"{"status":"live"}"#, "\(health.errors)")
        #expect(await apns.end().status == 0)
    }

    @Test func `the certificate is stored, its key is private, and the control plane returns it without the folder`() async throws {
        let first = try await SimulatorProgram()
        let made = try String(contentsOfFile: first.certificate, encoding: .utf8)
        let key = first.folder.url.appending(path: "sim/key.pem").path
        #expect(try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int == 0o600)
        #expect(first.screen.contains("sim/certificate.pem"))
        #expect(try await first.shell("curl -sS $CONTROL/certificate").output == made)
        #expect(await first.end(SIGTERM).status == 0)
        let second = try await SimulatorProgram(in: first.folder)
        #expect(try String(contentsOfFile: second.certificate, encoding: .utf8) == made)
        #expect(await second.end().status == 0)
        try Data("no certificate".utf8).write(to: URL(filePath: first.certificate))
        let third = try await SimulatorProgram(in: first.folder)
        #expect(try String(contentsOfFile: third.certificate, encoding: .utf8).hasPrefix("-----BEGIN CERTIFICATE-----"))
        #expect(await third.end().status == 0)
    }

    @Test(arguments: [5000, 65_536, 65_537, 300_000, 1_000_000])
    func `curl gets the reason why a body is rejected, whatever its size`(size: Int) async throws {
        let apns = try await SimulatorProgram(["--adopt"])
        let answer = try await apns.shell(
            "head -c \(size) /dev/zero | curl -sSi --http2 --cacert sim/certificate.pem \(Self.fields) --data-binary @- "
                + "$APNS/3/device/\(Self.token)")
        #expect(answer.status == 0, "\(answer.errors)")
        #expect(answer.output.hasPrefix("HTTP/2 413") && answer.output.hasSuffix(#"{"reason":"PayloadTooLarge"}"#), "\(answer.output)")
        #expect(await apns.end().status == 0)
    }

    @Test func `A body that is too large for the control plane is rejected with the reason, on either port`() async throws {
        let apns = try await SimulatorProgram()
        for place in ["--http2 --cacert sim/certificate.pem $APNS", "$CONTROL"] {
            let answer = try await apns.shell("head -c 100000 /dev/zero | curl -sS -w '%{http_code}' --data-binary @- \(place)/phones")
            #expect(answer.output.contains("the body is larger than 65536 bytes") && answer.output.hasSuffix("413"), "\(answer)")
        }
        #expect(await apns.end().status == 0)
    }

    @Test func `a HEAD request gets only a head`() async throws {
        let apns = try await SimulatorProgram()
        let answer = try await apns.shell("curl -sSI --http2 --cacert sim/certificate.pem $APNS/3/device/\(Self.token)")
        #expect(answer.status == 0, "\(answer.errors)")
        #expect(answer.output.hasPrefix("HTTP/2 405") && answer.output.contains("apns-id: "), "\(answer.output)")
        let seen = try await apns.shell("nghttp -nv -H ':method: HEAD' $APNS/phones")
        #expect(seen.output.contains(":status: 404") && !seen.output.contains("recv DATA"), "\(seen.output)")
        #expect(await apns.end().status == 0)
    }

    @Test func `with few descriptors pushes are served beside any number of idle connections`() async throws {
        let apns = try await SimulatorProgram(["--adopt"], files: SimulatorProgram.fewFiles)
        // Makes the provider token, for which the control port is asked.
        _ = try await apns.shell("true")
        for port in [apns.port, apns.controlPort] {
            let idle = try (0..<60).map { _ in try WireConnection(port: port) }
            // The ports accept independently, and each further connection replaces the one that has been idle longest, such as that of
            // curl before its request. An answer to the last connection means that all are accepted.
            if port == apns.controlPort {
                await idle.last?.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try await idle.last?.answer()?.status == 200)
            }
            let answer = try await apns.shell(Self.push())
            #expect(answer.output.hasPrefix("HTTP/2 200"), "\(answer.output)\(answer.errors)")
            withExtendedLifetime(idle) {}
        }
        #expect(try await apns.control("GET", "/connections")["requests"]?.int == 2)
        // Shutdown works while connections wait.
        let idle = try (0..<60).map { _ in try WireConnection(port: apns.port) }
        let end = await apns.end()
        #expect(end.status == 0)
        #expect(!end.output.contains("warning"), "\(end.output)")
        #expect(idle.count == 60)
    }

    @Test func `a full disk ends the simulator and leaves no partial line in the ledger`() async throws {
        let apns = try await SimulatorProgram(["--adopt", "--ledger", "ledger.jsonl"], blocks: 8)
        let pushes = try await apns.shell("for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do \(Self.push()); done")
        #expect(pushes.output.contains("HTTP/2 200"), "\(pushes.errors)")
        let end = await apns.dialogue.end(closingInput: false)
        #expect(end.status == 1 && end.output.contains("error[output.failed]"), "\(end.output)")
        let ledger = apns.folder.url.appending(path: "ledger.jsonl")
        let lines = try String(contentsOf: ledger, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count > 2 && lines.last == "")
        for line in lines.dropLast() { #expect((try? JSON(parsing: String(line))) != nil, "\(line)") }
        #expect(try FileManager.default.attributesOfItem(atPath: ledger.path)[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a connected client gets its response when the simulator ends`() async throws {
        let apns = try await SimulatorProgram(["--latency", "200ms"])
        let answer = Task { try await apns.shell(Self.push("-w '%{http_code}'")) }
        while try await apns.control("GET", "/connections")["requests"]?.int == 0 {}
        #expect(await apns.end().status == 0)
        // Open requests are answered.
        #expect(try await answer.value.output.contains("BadDeviceToken"))
    }

    @Test func `all requests of h2load are answered, over several connections and many streams`() async throws {
        let apns = try await SimulatorProgram(["--adopt", "--first-streams", "1000", "--inboxes", "0", "--ledger", "ledger.jsonl"])
        try apns.folder.write("body", Data(#"{"aps":{"alert":"Hello"}}"#.utf8))
        let paths = (0..<100).map { "\(Self.token.dropLast(3))\(String(1000 + $0).dropFirst())" }
        try apns.folder.write("paths", Data(paths.map { "https://127.0.0.1:\(apns.port)/3/device/\($0)\n" }.joined().utf8))
        let load = try await apns.shell("h2load -n 10000 -c 4 -m 100 -d body \(Self.fields) -i paths")
        #expect(
            load.output.contains("10000 total, 10000 started, 10000 done, 10000 succeeded, 0 failed, 0 errored, 0 timeout"),
            "\(load.output)")
        #expect(load.output.contains("status codes: 10000 2xx, 0 3xx, 0 4xx, 0 5xx"))
        let crowd = try await apns.control("GET", "/crowd")
        #expect(crowd["phones"]?.int == 100 && crowd["pushes"]?.int == 10_000)
        let lines = try await apns.shell("wc -l < ledger.jsonl")
        #expect(lines.output == "10000\n")
        #expect(await apns.end().status == 0)
    }

    @Test func `h2load uses one stream until it is trusted, and again after each rejection`() async throws {
        let apns = try await SimulatorProgram()
        try apns.folder.write("body", Data(#"{"aps":{"alert":"Hello"}}"#.utf8))
        let load = try await apns.shell("h2load -n 500 -c 2 -m 1 -d body \(Self.fields) $APNS/3/device/\(Self.token)")
        #expect(load.output.contains("500 total, 500 started, 500 done, 0 succeeded"), "\(load.output)")
        #expect(load.output.contains("status codes: 0 2xx, 0 3xx, 500 4xx, 0 5xx"))
        #expect(await apns.end().status == 0)
    }

    @Test func `nghttp receives APNs' settings, and GOAWAY with its reason`() async throws {
        let apns = try await SimulatorProgram(["--goaway-every", "1"])
        let seen = try await apns.shell("nghttp -nv $APNS/3/device/\(Self.token)")
        for text in [
            "[SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1]", "[SETTINGS_MAX_HEADER_LIST_SIZE(0x06):8000]",
            "[SETTINGS_INITIAL_WINDOW_SIZE(0x04):65535]", ":status: 405", #"opaque_data(21)=[{"reason":"Shutdown"}]"#,
        ] {
            #expect(seen.output.contains(text), "\(text)\n\(seen.output)")
        }
        #expect(await apns.end().status == 0)
    }

    @Test(arguments: [([], 3), (["--token-updates", "5"], 5)])
    func `a team may use three provider tokens in twenty minutes, or as many as an option says`(options: [String], count: Int) async throws
    {
        let apns = try await SimulatorProgram(["--adopt"] + options)
        var answers: [String] = []
        for _ in 0...count {
            let push = Self.push().replacing("$TOKEN", with: try await apns.newToken())
            answers.append(try await apns.shell(push).output)
        }
        #expect(answers.dropLast().allSatisfy { $0.hasPrefix("HTTP/2 200") }, "\(answers)")
        #expect(
            answers.last?.hasPrefix("HTTP/2 429") == true && answers.last?.contains("TooManyProviderTokenUpdates") == true, "\(answers)")
        #expect(await apns.end().status == 0)
    }

    @Test(arguments: [([], "HTTP/2 200"), (["--strict"], "HTTP/2 403")])
    func `a provider token signed in DER is accepted, except in strict mode`(
        options: [String], status: String
    ) async throws {
        let apns = try await SimulatorProgram(["--adopt"] + options)
        let push = Self.push().replacing("$TOKEN", with: try await apns.newToken(isDER: true))
        let answer = try await apns.shell(push)
        #expect(answer.output.hasPrefix(status), "\(answer.output)\(answer.errors)")
        #expect(try await apns.shell(Self.push()).output.hasPrefix("HTTP/2 200"))
        #expect(await apns.end().status == 0)
    }

    @Test func `faults on the command line apply from the start`() async throws {
        let apns = try await SimulatorProgram([
            "--adopt", "--fail", "ServiceUnavailable", "--retry-after", "9", "--fail", "TooManyRequests=0.5",
        ])
        var statuses: Set<String> = []
        for _ in 0..<20 {
            let answer = try await apns.shell(Self.push())
            statuses.insert(String(answer.output.dropFirst(7).prefix(3)))
            #expect(answer.output.contains("retry-after: 9"), "\(answer.output)\(answer.errors)")
        }
        #expect(statuses == ["429", "503"])
        #expect(await apns.end().status == 0)
    }

    @Test func `invalid or unavailable options end the program with a hint`() async throws {
        let apns = try await SimulatorProgram()
        let folder = try ScriptFolder(["file": ""])
        let cases = [
            (["--port", String(apns.port)], "error[simulate.port]: port \(apns.port) of 127.0.0.1", "--port"),
            (
                ["--port", "0", "--control-port", String(apns.controlPort)], "error[simulate.port]: port \(apns.controlPort)",
                "--control-port"
            ),
            (["--port", "0", "--data", "file"], "error[simulate.data]", "use a writable folder"),
            (["--port", "0", "--fail", "NoSuchWord"], "error[usage.argument]", "BadDeviceToken"),
            (["--fail", "Shutdown=2"], "--fail: invalid value \"Shutdown=2\"", "percentage"),
            (["--environment", "moon"], "--environment: unknown value \"moon\"", "development"),
            (["--streams", "0"], "from 1", "streams"),
            (["--token-updates", "0"], "--token-updates: invalid value \"0\"", "from 1 to 1000000"),
        ]
        for (arguments, message, fix) in cases {
            let program = try await BuiltProgram.run(["simulate", "apns"] + arguments, in: folder.url)
            #expect(program.status == 2, "\(arguments)")
            #expect(program.output == "")
            #expect(program.errors.contains(message) && program.errors.contains(fix), "\(arguments) \(program.errors)")
        }
        #expect(await apns.end().status == 0)
    }

    @Test func `aioapns gets all its pushes answered, with the realistic limits of streams`() async throws {
        let apns = try await SimulatorProgram()
        try await Self.run("apns_aioapns.py", "successes", apns)
        #expect(await apns.end().status == 0)
    }

    /// Without the changing limit of streams: aioapns does not cope with a limit that falls below what it expects.
    @Test func `aioapns handles the classes of failure, new connections and certificates`() async throws {
        // Each of its clients has its own token.
        let apns = try await SimulatorProgram(["--first-streams", "1000", "--token-updates", "100"])
        try await Self.run("apns_aioapns.py", "failures", apns)
        #expect(await apns.end().status == 0)
    }

    private static func run(_ script: String, _ mode: String, _ apns: SimulatorProgram) async throws {
        try await PythonClientTests.run(
            script, [mode, String(apns.port), String(apns.controlPort), apns.folder.url.path], trusting: apns.certificate)
    }

    @Test func `httpx gets every class of failure over HTTP2, and sends broadcasts`() async throws {
        let apns = try await SimulatorProgram()
        try await PythonClientTests.run("apns_httpx.py", [String(apns.port), String(apns.controlPort)], trusting: apns.certificate)
        #expect(await apns.end().status == 0)
    }
}
