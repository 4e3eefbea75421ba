import Foundation
import HostSupport
import Support
import Testing

/// The effect of SIGHUP, and the notifications to the service manager.
@Suite struct ReloadTests {
    @Test func `SIGHUP applies what can change, lists what needs a restart, and an invalid file changes nothing`() async throws {
        let folder = try ScriptFolder(["pushhost.yaml": "log: { level: info }\n"])
        let server = try Dialogue(["serve", "--port", "0", "--tls-port", "none", "--data", "data"], in: folder.url)
        try await server.hear("Press Ctrl-C to stop.")
        func reload(_ yaml: String) throws {
            try folder.write("pushhost.yaml", Data(yaml.utf8))
            server.signal(SIGHUP)
        }
        func ask() async throws -> String {
            try await BuiltProgram.shell(
                "curl -s -o /dev/null -w '%{http_code}' --unix-socket data/pushhost.sock http://localhost/health/live", in: folder.url
            ).output
        }
        try reload("log: { level: eror }\nlimts: {}\nlisten: { port: 9 }\n")
        try await server.hear("invalid setting: pushhost.yaml:1: \"log.level\" must be")
        try await server.hear("invalid setting: pushhost.yaml:2: unknown setting \"limts\"; did you mean \"limits\"?")
        try await server.hear("the previous settings stay in effect")
        _ = try await ask()
        try await server.hear("GET /health/live 200")
        try reload("log: { level: warning, format: json }\nlisten: { host: \"::1\" }\nhub: other\n")
        let told = try await server.hear("the setting hub has changed: restart the server to apply it")
        #expect(told.contains("changed settings: log.format, log.level"))
        #expect(told.contains("the setting listen.host has changed"))
        _ = try await ask()
        try reload("log: { level: info, format: json }\n")
        let quiet = try await server.hear(#""message":"changed settings: log.level""#)
        #expect(!quiet.contains("/health/live"))
        try FileManager.default.removeItem(at: folder.url.appending(path: "pushhost.yaml"))
        server.signal(SIGHUP)
        try await server.hear("the previous settings stay in effect: pushhost.yaml is missing")
        server.signal(SIGTERM)
        #expect(await server.end(closingInput: false).status == 0)
    }

    @Test(arguments: [false, true])
    func `The service manager is notified when the server is ready, reloads and stops`(isAbstract: Bool) async throws {
        let folder = try ScriptFolder()
        let path = isAbstract ? "@pushhost-\(UUID().uuidString)" : folder.url.appending(path: "notify").path
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(socket) }
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        if isAbstract { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(2 + name.count)
        let status = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, length) }
        }
        try #require(status == 0)
        func next() -> String {
            var buffer = [UInt8](repeating: 0, count: 256)
            return String(decoding: buffer[..<max(0, recv(socket, &buffer, 256, 0))], as: UTF8.self)
        }
        let server = try Dialogue(
            ["serve", "--port", "0", "--tls-port", "none", "--data", "data"], in: folder.url, environment: ["NOTIFY_SOCKET": path])
        #expect(next() == "READY=1")
        server.signal(SIGHUP)
        #expect(next() == "RELOADING=1")
        #expect(next() == "READY=1")
        server.signal(SIGTERM)
        #expect(next() == "STOPPING=1")
        #expect(await server.end(closingInput: false).status == 0)
    }

    @Test func `The systemd unit starts the program with a valid command line`() async throws {
        let unit = try await BuiltProgram.run(["--no-print-directory", "unit", "PREFIX=/opt/push"], tool: URL(filePath: "/usr/bin/make"))
        #expect(unit.status == 0)
        #expect(!unit.output.contains("@BINDIR@"), "what is to be replaced: \(unit.output)")
        let start = try #require(unit.output.firstMatch(of: /ExecStart=\/opt\/push\/bin\/pushhost serve (.*)\n/)?.1)
        // An invalid argument would be reported before the ports.
        let words = start.split(separator: " ").map(String.init)
        let run = try await BuiltProgram.run(["serve"] + words + ["--port", "none", "--tls-port", "none"])
        #expect(run.status == 2)
        #expect(run.errors.contains("error[settings.invalid]: listen.port and listen.tls_port are both none"), "\(run.errors)")
        let folder = try #require(unit.output.firstMatch(of: /StateDirectory=(.*)\n/)?.1)
        #expect(words == ["--data", "/var/lib/\(folder)"])
        #expect(unit.output.contains("WorkingDirectory=-/etc/pushhost\n"))
        #expect(unit.output.contains("ExecReload=/bin/kill -HUP $MAINPID\n"))
        let analyze = URL(filePath: "/usr/bin/systemd-analyze")
        guard FileManager.default.isExecutableFile(atPath: analyze.path) else { return }
        let files = try ScriptFolder()
        // systemd-analyze requires that the program exists.
        let text = unit.output.replacing("/opt/push/bin/pushhost", with: BuiltProgram.executable.path)
        try files.write("pushhost.service", Data(text.utf8))
        let verdict = try await BuiltProgram.run(["verify", "--man=no", "./pushhost.service"], tool: analyze, in: files.url)
        #expect(!verdict.errors.contains("pushhost.service:"), "\(verdict.errors)")
    }
}
