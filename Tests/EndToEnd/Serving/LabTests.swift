import Foundation
import HostSupport
import PushModel
import Support
import Testing

/// `pushhost serve --lab`: the simulated push services inside the server.
@Suite struct LabTests {
    /// A server whose data is in `data` of the folder, with its standard output up to the end of the startup banner.
    private static func serve(_ arguments: [String], in folder: URL) async throws -> (server: Dialogue, screen: String) {
        let server = try Dialogue(
            ["serve", "--port", "0", "--tls-port", "none", "--data", "data"] + arguments, in: folder,
            environment: ["PUSHHOST_LOG_LEVEL": "warning"])
        return (server, try await server.hear("Press Ctrl-C to stop."))
    }

    private static func curl(_ line: String, in folder: URL) async throws -> String {
        try await BuiltProgram.shell("curl -s --unix-socket data/pushhost.sock \(line)", in: folder).output
    }

    private static let handle = String(repeating: "0123456789abcdef", count: 4)
    private static let credentials =
        #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><NotificationHubDescription "#
        + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><WnsCredential><Properties>"#
        + "<Property><Name>PackageSid</Name><Value>ms-app://s-1-15-2-1</Value></Property><Property><Name>SecretKey</Name><Value>x</Value>"
        + "</Property></Properties></WnsCredential></NotificationHubDescription></content></entry>"

    @Test func `Phones of the lab show what a hub sends, and the lab excludes real credentials`() async throws {
        let folder = try ScriptFolder()
        let (server, screen) = try await Self.serve(["--lab"], in: folder.url)
        let lab = try #require(screen.firstMatch(of: /lab +on, at (http:\/\/127\.0\.0\.1:\d+)\n/)?.1)
        #expect(screen.contains("simulated push services (lab)"))
        let installation = #"{"installationId":"i","platform":"apns","pushChannel":"\#(Self.handle)"}"#
        _ = try await Self.curl("-X PUT 'http://localhost/hub/installations/i?api-version=2020-06' -d '\(installation)'", in: folder.url)
        let sent = try await Self.curl(
            "-H 'ServiceBusNotification-Format: apple' 'http://localhost/hub/messages?api-version=2015-01&test' "
                + #"-d '{"aps":{"alert":"Hello lab"}}'"#, in: folder.url)
        #expect(sent.contains("<Success>1</Success>"), "\(sent)")
        let phone = try await BuiltProgram.shell("curl -s \(lab)/phones/\(Self.handle)").output
        let phones = try await BuiltProgram.shell("curl -s \(lab)/phones").output
        #expect(phone.contains("Hello lab") || phones.contains(Self.handle), "\(phone) \(phones)")
        // As in `pushhost simulate`, the control plane accepts only host names of this machine.
        let foreign = try await BuiltProgram.shell("curl -s -o /dev/null -w '%{http_code}' -H 'Host: evil.example' \(lab)/credentials")
        #expect(foreign.output == "421")
        let keys = try Data(contentsOf: folder.url.appending(path: "data/lab/credentials.json"))

        let late = try await Self.curl(
            "-X PUT http://localhost/real -H 'Accept: application/problem+json' -d '\(Self.credentials)'", in: folder.url)
        #expect(late.contains("lab.credentials"), "\(late)")
        #expect(screen.contains("  lab key   ***\n"))
        let key = try JSON(parsing: try await Self.curl("http://localhost/api/v1/server", in: folder.url))["labKey"]?.string
        #expect(key?.utf8.count == 44)
        let session = try await Self.curl(#"http://localhost/lab/sessions -d '{"hub":"hub"}'"#, in: folder.url)
        #expect(session.contains("connectionString"), "\(session)")
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
        let (again, revealed) = try await Self.serve(["--lab", "--reveal"], in: folder.url)
        #expect(revealed.firstMatch(of: /lab key   [A-Za-z0-9+\/]{43}=\n/) != nil)
        again.signal(SIGTERM)
        #expect(await again.end(closingInput: false).status == 0)
        #expect(try Data(contentsOf: folder.url.appending(path: "data/lab/credentials.json")) == keys)

        let (plain, without) = try await Self.serve([], in: folder.url)
        #expect(without.contains("  lab       off\n"))
        let (unknown, other) = (
            try await Self.curl("-X POST http://localhost/lab/sessions", in: folder.url),
            try await Self.curl("-X POST http://localhost/lax/sessions", in: folder.url)
        )
        #expect(unknown.contains("405") && unknown.contains("<Code>") == other.contains("<Code>"), "\(unknown)")
        _ = try await Self.curl("-X PUT http://localhost/real -d '\(Self.credentials)'", in: folder.url)
        plain.signal(SIGTERM)
        #expect(await plain.end(closingInput: false).status == 0)
        // A hub with credentials sends to real devices, so that the lab does not start.
        let refused = try await BuiltProgram.run(["serve", "--lab", "--port", "0", "--tls-port", "none", "--data", "data"], in: folder.url)
        #expect(refused.status == 2)
        #expect(refused.errors.contains("error[lab.credentials]: hub \"real\" has credentials"), "\(refused.errors)")
    }

    @Test func `A full lab is reported by the send, the trace and the doctor, and no token counts as invalid`() async throws {
        let folder = try ScriptFolder()
        let server = try Dialogue(
            ["serve", "--port", "0", "--tls-port", "none", "--data", "data", "--lab"], in: folder.url,
            environment: ["PUSHHOST_LOG_LEVEL": "error", "PUSHHOST_LAB_PHONES": "20"])
        try await server.hear("Press Ctrl-C to stop.")
        func command(_ words: String...) async throws -> BuiltProgram {
            try await BuiltProgram.run(words + ["--data", "data"], in: folder.url)
        }
        func install(_ numbers: ClosedRange<Int>) async throws {
            for number in numbers {
                let body = #"{"installationId":"i\#(number)","platform":"apns","pushChannel":"\#(Self.handle.dropLast(2))\#(number)"}"#
                _ = try await Self.curl(
                    "-X PUT 'http://localhost/hub/installations/i\(number)?api-version=2020-06' -d '\(body)'", in: folder.url)
            }
        }
        try Data(#"{"aps":{"alert":"Hello lab"}}"#.utf8).write(to: folder.url.appending(path: "hello.json"))
        try await install(10...29)
        #expect(try await command("send", "--native", "apns", "hello.json", "--broadcast", "--yes").status == 0)
        #expect(try await command("doctor").output.contains("lab is full"))
        try await install(30...79)
        let sent = try await command("send", "--native", "apns", "hello.json", "--broadcast", "--yes")
        #expect(sent.status == 7 && sent.output.contains("20 of 70 sent · 50 failed"), "\(sent.output)\(sent.errors)")
        #expect(sent.output.contains("LabFull") && !sent.output.contains("environment"), "\(sent.output)")
        let id = try #require(sent.output.firstMatch(of: /✗ (\S+)/)?.1, "\(sent.output)")
        let trace = try await command("trace", String(id), "--device", "i50", "--json")
        #expect(trace.output.contains("\"lab_full\"") && !trace.output.contains("environment"), "\(trace.output)")
        let doctor = try await command("doctor")
        #expect(doctor.status == 1 && doctor.output.contains("the lab is full: it has created 20 phones"), "\(doctor.output)")
        #expect(!doctor.output.contains("most tokens"), "\(doctor.output)")
        #expect(try await command("devices", "--json", "--all").output.contains("i79"))
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    @Test func `Third-party clients reach the lab's phones over TLS if a port is set for it`() async throws {
        let folder = try ScriptFolder()
        let server = try Dialogue(
            ["serve", "--lab", "--port", "0", "--tls-port", "none", "--data", "data"], in: folder.url,
            environment: ["PUSHHOST_LOG_LEVEL": "warning", "PUSHHOST_LAB_TLS_PORT": "0"])
        let screen = try await server.hear("Press Ctrl-C to stop.")
        let control = try #require(screen.firstMatch(of: /on, at (http:\/\/127\.0\.0\.1:\d+)/)?.1)
        let address = try #require(screen.firstMatch(of: /lab TLS +(https:\/\/localhost:\d+)/)?.1)
        let added = try await BuiltProgram.shell(#"curl -sS \#(control)/phones -d '{"name": "tom", "platform": "wns"}'"#).output
        let channel = try #require(try JSON(parsing: added)["handle"]?.string)
        #expect(channel.hasPrefix("\(address)/?token="))
        let authority = "--cacert \(folder.url.path)/data/lab/certificate.pem"
        let refused = try await BuiltProgram.shell("curl -sSi \(authority) -X POST '\(channel)'").output
        #expect(refused.hasPrefix("HTTP/2 401") && refused.contains("x-wns-error-description"), "\(refused)")
        #expect(try await BuiltProgram.shell("curl -sS \(control)/ledger").output.contains(#""reason":"Unauthorized""#))
        // A hub of the server sends to such a channel too.
        let installation = #"{"installationId":"i","platform":"wns","pushChannel":"\#(channel)"}"#
        _ = try await Self.curl("-X PUT 'http://localhost/hub/installations/i?api-version=2020-06' -d '\(installation)'", in: folder.url)
        let sent = try await Self.curl(
            "-H 'ServiceBusNotification-Format: windows' -H 'X-WNS-Type: wns/raw' -H 'Content-Type: application/octet-stream' "
                + "'http://localhost/hub/messages?api-version=2015-01&test' -d 'Hello lab'", in: folder.url)
        #expect(sent.contains("<Success>1</Success>"), "\(sent)")
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    @Test func `Idle connections to the ports of the lab count with those of the server, and are replaced`() async throws {
        let folder = try ScriptFolder()
        let server = try Dialogue(
            ["serve", "--port", "0", "--tls-port", "none", "--data", "data", "--lab"], in: folder.url,
            environment: ["PUSHHOST_LOG_LEVEL": "error", "PUSHHOST_LAB_TLS_PORT": "0", "PUSHHOST_LIMITS_CONNECTIONS": "20"])
        let screen = try await server.hear("Press Ctrl-C to stop.")
        let lab = try #require(screen.firstMatch(of: /lab +on, at http:\/\/127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) })
        let port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
        let first = try WireConnection(port: lab)
        await first.send("GET /phones HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try await first.answer()?.status == 200)
        let idle = try (0..<60).map { _ in try WireConnection(port: lab) }
        // The connection that was idle longest was closed, whichever port it came to.
        for connection in [first] + idle.prefix(30) { #expect(await connection.rest().ending != .never) }
        let client = try WireConnection(port: port)
        await client.send("GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try await client.answer()?.status == 200)
        await client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let metrics = try #require(try await client.answer()).body
        let open = try #require(metrics.firstMatch(of: /pushhost_http_connections (\d+)/).flatMap { Int($0.1) })
        #expect(open <= 20, "\(open)")
        withExtendedLifetime(idle) {}
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    @Test func `The lab excludes external simulators, and a port in use is reported`() async throws {
        let folder = try ScriptFolder()
        let both = try await BuiltProgram.run(["serve", "--lab", "--simulators", "http://127.0.0.1:1"], in: folder.url)
        #expect(both.status == 2)
        #expect(both.errors.contains("lab and simulators cannot be combined"))
        #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "pushhost-data").path))
        let (server, screen) = try await Self.serve(["--lab"], in: folder.url)
        let port = try #require(screen.firstMatch(of: /on, at http:\/\/127\.0\.0\.1:(\d+)/)?.1)
        let taken = try await BuiltProgram.run(
            ["serve", "--port", "0", "--tls-port", "none", "--data", "other"], in: folder.url,
            environment: ["PUSHHOST_LAB_PORT": String(port)])
        #expect(taken.status == 2)
        #expect(taken.errors.contains("error[lab.port]"), "\(taken.errors)")
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }
}
