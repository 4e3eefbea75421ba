import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// `pushhost simulate` with all services or one, and third-party clients.
@Suite struct SimulateServicesTests {
    @Test func `firebase-admin sends to phones and gets every class of failure`() async throws {
        let simulator = try await SimulatorProgram(serving: "all")
        try await simulator.run("fcm_firebase_admin.py")
        #expect(await simulator.end().status == 0)
    }

    @Test func `firebase-admin works the same with FCM alone`() async throws {
        let simulator = try await SimulatorProgram(serving: "fcm")
        try await simulator.run("fcm_firebase_admin.py")
        #expect(await simulator.end().status == 0)
    }

    @Test(arguments: ["all", "webpush"])
    func `pywebpush reaches browsers that decrypt, and gets every class of failure`(service: String) async throws {
        let simulator = try await SimulatorProgram(serving: service)
        try await simulator.run("webpush_pywebpush.py")
        #expect(await simulator.end().status == 0)
    }

    @Test func `httpx gets every status of FCM and Web Push over HTTP2, and of WNS over HTTP1`() async throws {
        let simulator = try await SimulatorProgram(serving: "all")
        try await simulator.run("simulators_httpx.py")
        #expect(await simulator.end().status == 0)
    }

    @Test func `aioapns and httpx get the same from APNs beside other services as from APNs alone`() async throws {
        let simulator = try await SimulatorProgram(["--first-streams", "1000"], serving: "all")
        try await simulator.run("apns_httpx.py")
        #expect(await simulator.end().status == 0)
        // Each of its clients has its own token.
        let other = try await SimulatorProgram(["--first-streams", "1000", "--token-updates", "100"], serving: "all")
        try await PythonClientTests.run(
            "apns_aioapns.py", ["failures", String(other.port), String(other.controlPort), other.folder.url.path],
            trusting: other.certificate)
        #expect(await other.end().status == 0)
    }

    @Test(arguments: [("apns", "h2", false), ("fcm", "h2", true), ("wns", "http/1.1", true), ("webpush", "h2", true), ("all", "h2", true)])
    func `a TLS client negotiates one of the service's protocols`(service: String, best: String, hasHTTP1: Bool) async throws {
        let simulator = try await SimulatorProgram(serving: service)
        func chosen(_ offer: String) async throws -> String {
            let seen = try await simulator.shell("openssl s_client -connect 127.0.0.1:${APNS##*:} -alpn \(offer) </dev/null 2>&1")
            return seen.output
        }
        #expect(try await chosen("h2,http/1.1").contains("ALPN protocol: \(best)\n"))
        #expect(try await chosen("http/1.1").contains("ALPN protocol: http/1.1\n") == hasHTTP1)
        #expect(await simulator.end().status == 0)
    }

    @Test func `faults on the command line apply to the service that they name`() async throws {
        let simulator = try await SimulatorProgram(
            [
                "--adopt", "--fail", "fcm:token:invalid_grant", "--fail", "webpush:503", "--fail", "apns:ServiceUnavailable",
                "--retry-after", "9",
            ],
            serving: "all")
        let token = try await simulator.shell("curl -sS --cacert sim/certificate.pem $APNS/accesstoken.srf -d x=y")
        #expect(token.output.contains("invalid_request"), "\(token.output)\(token.errors)")
        let push = try await simulator.shell("curl -sSi --cacert sim/certificate.pem $APNS/wpush/v2/x -H 'TTL: 0' -X POST")
        #expect(push.output.contains("HTTP/2 503") && push.output.contains("retry-after: 9"), "\(push.output)\(push.errors)")
        let apns = try await simulator.shell(
            "curl -sSi --cacert sim/certificate.pem $APNS/3/device/\(String(repeating: "ab", count: 32)) -d '{\"aps\":{}}' "
                + "-H \"authorization: bearer $TOKEN\" -H 'apns-topic: dev.pushhost.simulated' -H 'apns-push-type: alert'")
        #expect(apns.output.contains("ServiceUnavailable") && apns.output.contains("retry-after: 9"), "\(apns.output)\(apns.errors)")
        #expect(await simulator.end().status == 0)
    }

    @Test func `a fault of a service that is not served is rejected`() async throws {
        let program = try await BuiltProgram.run(["simulate", "wns", "--port", "0", "--control-port", "0", "--fail", "fcm:UNAVAILABLE=1%"])
        #expect(program.status == 2 && program.errors.contains("pushhost simulate wns does not serve FCM"), "\(program.errors)")
    }

    @Test func `one file can hold the certificates of two simulators`() async throws {
        let (one, other) = (try await SimulatorProgram(serving: "webpush"), try await SimulatorProgram(serving: "webpush"))
        let both = try String(contentsOfFile: one.certificate, encoding: .utf8) + String(contentsOfFile: other.certificate, encoding: .utf8)
        try one.folder.write("both.pem", Data(both.utf8))
        for port in [one.port, other.port] {
            let health = try await one.shell("curl -sS --cacert both.pem https://localhost:\(port)/health/live")
            #expect(health.output == #"{"status":"live"}"#, "\(health.errors)")
        }
        #expect(await one.end().status == 0)
        #expect(await other.end().status == 0)
    }

    @Test func `a public name appears in the certificate, in handles and in credentials`() async throws {
        let simulator = try await SimulatorProgram(["--public", "push.test:9443"], serving: "webpush")
        let phone = try await simulator.control("POST", "/phones", #"{"name": "eve", "platform": "webpush"}"#)
        let endpoint = try #require(phone["subscription"]?["endpoint"]?.string)
        #expect(endpoint.hasPrefix("https://push.test:9443/wpush/v2/"))
        #expect(try await simulator.control("GET", "/credentials")["browser"]?["origin"]?.string == "https://push.test:9443")
        let push = try await simulator.shell(
            "curl -sSi --cacert sim/certificate.pem --connect-to push.test:9443:127.0.0.1:\(simulator.port) -X POST -H 'TTL: 0' '\(endpoint)'"
        )
        #expect(push.output.contains("HTTP/2 401"), "\(push.output)\(push.errors)")
        #expect(await simulator.end().status == 0)
        // The stored certificate gets the new name in addition to the old ones.
        let again = try await SimulatorProgram(["--public", "other.test:1"], serving: "webpush", in: simulator.folder)
        let names = try await again.shell("openssl x509 -in sim/certificate.pem -noout -ext subjectAltName")
        #expect(names.output.contains("DNS:other.test") && names.output.contains("DNS:*.notify.windows.com"), "\(names.output)")
        #expect(await again.end().status == 0)
    }

    @Test func `an oversized body is rejected over HTTP1, and curl gets the reason`() async throws {
        let simulator = try await SimulatorProgram(serving: "all")
        for size in [5000, 65_537, 1_000_000] {
            let answer = try await simulator.shell(
                "head -c \(size) /dev/zero | curl -sSi --http1.1 --cacert sim/certificate.pem --data-binary @- $APNS/phones")
            #expect(answer.status == 0, "\(answer.errors)")
            #expect(answer.output.contains(size == 5000 ? "HTTP/1.1 400" : "HTTP/1.1 413"), "\(answer.output)")
        }
        #expect(await simulator.end().status == 0)
    }

    @Test func `with few descriptors idle connections are replaced, and the simulator stays up`() async throws {
        let simulator = try await SimulatorProgram(serving: "all", files: SimulatorProgram.fewFiles)
        for _ in 0..<3 {
            let idle = try (0..<150).map { try WireConnection(port: $0 % 2 == 0 ? simulator.port : simulator.controlPort) }
            // Connections of the other port that are accepted later can replace one that has not sent its request yet.
            for url in ["$APNS/health/live", "$CONTROL/health/live"] {
                let answer = try await simulator.shell(
                    "for try in 1 2 3 4 5 6 7 8; do curl -sS --http1.1 --cacert sim/certificate.pem \(url) && break; done")
                #expect(answer.output == #"{"status":"live"}"#, "\(answer.errors)")
            }
            withExtendedLifetime(idle) {}
        }
        let end = await simulator.end()
        #expect(end.status == 0 && !end.output.contains("warning"), "\(end.output)")
    }

    @Test func `with too few descriptors the simulator does not start and reports how many it needs`() async throws {
        let few = SimulatorProgram.fewFiles - 12
        let program = try await BuiltProgram.shell("ulimit -n \(few); exec $P simulate all --port 0 --control-port 0")
        #expect(program.status == 2 && program.output.isEmpty)
        #expect(
            program.errors.contains("error[simulators.unusable]") && program.errors.contains("the system allows \(few) in all")
                && program.errors.contains("ulimit -n"), "\(program.errors)")
    }

    @Test func `invalid or unavailable options end the program with a hint`() async throws {
        let cases = [
            (["all", "--fail", "UNAVAILABLE"], "the push service is missing", "fcm:UNAVAILABLE"),
            (["all", "--fail", "sms:UNAVAILABLE"], "unknown push service \"sms\"", "webpush"),
            (["fcm", "--fail", "Throttled"], "unknown reason of FCM", "QUOTA_EXCEEDED"),
            (["webpush", "--fail", "token:invalid_grant"], "unknown reason of Web Push", "no token endpoint"),
            (["fcm", "--retry-after", "5"], "--retry-after needs --fail", "--fail"),
            (["wns", "--port", "none"], "--port none leaves no port", "pushhost simulate --port none"),
            (["--port", "none", "--latency", "1ms"], "need the TLS port", "remove --port none"),
            (["--public", "https://localhost"], "--public: invalid value \"https://localhost\"", "localhost:9443"),
            (["fcm", "--port", "x"], "--port", "x"),
        ]
        for (arguments, message, fix) in cases {
            let program = try await BuiltProgram.run(["simulate"] + arguments + (arguments.contains("--port") ? [] : ["--port", "0"]))
            #expect(program.status == 2, "\(arguments)")
            #expect(program.output == "")
            #expect(program.errors.contains(message) && program.errors.contains(fix), "\(arguments) \(program.errors)")
        }
    }

    @Test(arguments: [("all", "apns"), ("apns", "apns"), ("fcm", "fcm"), ("wns", "wns"), ("webpush", "browser")])
    func `the commands in the startup banner add a phone of the service and show it`(
        service: String, platform: String
    ) async throws {
        let simulator = try await SimulatorProgram(serving: service)
        let next = try #require(simulator.screen.components(separatedBy: "Next\n").last)
        let commands = next.split(separator: "\n").filter { $0.hasPrefix("  curl ") }
        #expect(commands.count == 2, "\(next)")
        let run = try await BuiltProgram.shell(
            "set -e\n" + commands.map { $0.replacing("curl ", with: "curl --silent --show-error --fail-with-body ") + "\necho\n" }.joined())
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let answers = try run.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
        #expect(answers.count == 2 && answers.allSatisfy { $0["platform"]?.string == platform }, "\(run.output)")
        // The handle has the service's port, or is a token of Apple or Google.
        let phone = try #require(answers.last)
        let handle = try #require((phone["subscription"]?["endpoint"] ?? phone["handle"])?.string)
        if ["wns", "webpush"].contains(service) { #expect(handle.hasPrefix("https://localhost:\(simulator.port)/"), "\(handle)") }
        #expect(await simulator.end().status == 0)
    }

    /// The first block of a language on a page, with the simulator's ports.
    private static func block(_ language: String, of page: String, for simulator: SimulatorProgram) -> String? {
        page.components(separatedBy: "```\(language)\n").dropFirst().first?.components(separatedBy: "```").first.map {
            $0.replacing(":8091", with: ":\(simulator.port)").replacing(":8090", with: ":\(simulator.controlPort)")
        }
    }

    @Test(arguments: [("apns", "ana"), ("fcm", "bob"), ("wns", "tom"), ("webpush", "eve")])
    func `the commands on the services' pages reach a phone`(service: String, phone: String) async throws {
        let page = try String(contentsOf: BuiltProgram.root.appending(path: "docs/reference/simulators/\(service).md"), encoding: .utf8)
        let simulator = try await SimulatorProgram(serving: service)
        let commands = try #require(Self.block("sh", of: page, for: simulator))
        let start = "pushhost simulate \(service) --data sim &\n"
        #expect(commands.hasPrefix(start))
        let script = commands.dropFirst(start.count).replacing("curl ", with: "curl --silent --show-error --fail-with-body ")
        let run = try await BuiltProgram.shell("set -e\n" + script, in: simulator.folder.url)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        if let source = Self.block("python", of: page, for: simulator) {
            try simulator.folder.write("client.py", Data((source + "\nprint('done')\n").utf8))
            let path = simulator.folder.url.appending(path: "client.py").path
            try await PythonClientTests.run(path, [], trusting: simulator.certificate)
        }
        let inbox = try #require(try await simulator.control("GET", "/phones/\(phone)")["inbox"]?.array)
        #expect(inbox.map { $0["text"]?.string } == ["Hello"])
        #expect(await simulator.end().status == 0)
    }
}
