import Foundation
import PushCore
import Support
import Testing

@testable import PushHost

/// What a server says that cannot start, or that starts with what clients will refuse.
@Suite struct ServeRefusalTests {
    @Test func `Where it cannot listen is said with the setting, and nothing else is logged`() async throws {
        try await ServedHub.serving { hub in
            let folder = try ScriptFolder()
            for (options, expected, hint) in [
                (
                    ["--port", "0", "--tls-port", String(hub.tlsPort)],
                    "127.0.0.1:\(hub.tlsPort) (listen.tls_port): Address already in use",
                    "another one"
                ),
                (
                    ["--port", String(hub.port), "--tls-port", "none"], "127.0.0.1:\(hub.port) (listen.port): Address already in use",
                    "another one"
                ),
                (
                    ["--port", "0", "--tls-port", "none", "--host", "nope.invalid"],
                    "nope.invalid:0 (listen.port): no machine has this name",
                    "check listen.host"
                ),
            ] {
                let program = try await Program.run(["serve", "--data", "data"] + options, in: folder.url)
                #expect(program.status == 2)
                #expect(program.errors.hasPrefix("error[serve.port]: the server cannot listen on \(expected)\n"), "\(program.errors)")
                #expect(program.errors.contains(hint), "\(program.errors)")
                #expect(program.output.isEmpty)
            }
        }
    }

    @Test(arguments: [[], ["--lab"]])
    func `With too few files it does not start, and says how many it needs`(options: [String]) async throws {
        let folder = try ScriptFolder()
        let few = 20 + OpenFiles.ofSharedLoops
        let command = "ulimit -n \(few); exec $P serve --port 0 --tls-port none --data data \(options.joined(separator: " "))"
        let program = try await Program.shell(command, in: folder.url)
        #expect(program.status == 2)
        let needed = OpenFiles.ofSharedLoops + (options.isEmpty ? 44 : 68)
        #expect(
            program.errors.hasPrefix(
                "error[serve.files]: the server needs \(needed) files and sockets, and the system allows \(few), of which "),
            "\(program.errors)")
        #expect(program.errors.contains("ulimit -n") && !FileManager.default.fileExists(atPath: folder.url.appending(path: "data").path))
    }

    @Test func `An option that does not fit is named as it was written`() async throws {
        let program = try await Program.run(["serve", "--tls-port", "abc"])
        #expect(program.status == 2)
        #expect(program.errors.contains("--tls-port: \"abc\" does not fit: it takes 0 to 65535, or none"), "\(program.errors)")
    }

    @Test func `A certificate that has ended is told in the log, and a variable that is nearly a setting`() async throws {
        let folder = try ScriptFolder()
        let old = try DevelopmentCertificate(names: [], now: SystemClock().now + .seconds(-900 * 86_400))
        let (certificate, key) = (folder.url.appending(path: "old.pem"), folder.url.appending(path: "old.key"))
        try Data(old.chain.utf8).write(to: certificate)
        try Data(old.key.reveal().utf8).write(to: key)
        let settings = [
            "PUSHHOST_TLS_CERTIFICATE": certificate.path, "PUSHHOST_TLS_KEY": key.path, "PUSHHOST_LOG_LEVEL": "warning",
            "PUSHHOST_DTA": "elsewhere",
        ]
        try await ServedHub.serving(settings: settings) { hub in
            // It may come before the first screen has ended.
            let warning = "the certificate: it ended on"
            if !hub.screen.contains(warning) { try await hub.hear(warning) }
            #expect(hub.screen.contains("the variable PUSHHOST_DTA is no setting; did you mean PUSHHOST_DATA?"))
        }
    }

    @Test(
        arguments: [
            (Data([0x68, 0x75, 0x62, 0x3a, 0x20, 0xff]), "error[settings.unreadable]: s.yaml is not UTF-8"),
            (Data(repeating: 0x23, count: 1 << 21), "error[settings.unreadable]: s.yaml has more than 1 MiB, the most of a settings file"),
        ])
    func `A file of settings that is none is refused`(content: Data, expected: String) async throws {
        let folder = try ScriptFolder()
        try folder.write("s.yaml", content)
        let program = try await Program.run(["serve", "--config", "s.yaml", "--data", "data"], in: folder.url)
        #expect(program.status == 2)
        #expect(program.errors.contains(expected), "\(program.errors)")
    }

    @Test func `A file of the data folder that cannot be used is named`() async throws {
        let folder = try ScriptFolder()
        try FileManager.default.createDirectory(at: folder.url.appending(path: "data/lock"), withIntermediateDirectories: true)
        let program = try await Program.run(["serve", "--data", "data"], in: folder.url)
        #expect(program.status == 2)
        #expect(
            program.errors.contains("error[data.unusable]: the data folder data cannot be used: data/lock: Is a directory"),
            "\(program.errors)")
    }

    @Test func `A server whose database is removed is not ready, and the doctor says why`() async throws {
        try await ServedHub.serving { hub in
            for ending in ["", "-wal", "-shm"] {
                try FileManager.default.removeItem(at: hub.data.appending(path: "pushhost.sqlite\(ending)"))
            }
            // What it has found is held for some seconds.
            try await until { try await hub.call("GET", "/health/ready", by: nil).status == 503 }
            try await hub.hear("was removed or replaced: what is written now is lost")
            let doctor = try await hub.command(["doctor"])
            #expect(doctor.status == 1)
            #expect(doctor.output.contains("✗ database      data/pushhost.sqlite is gone"), "\(doctor.output)")
            #expect(doctor.output.contains("✗ server        it is not ready"), "\(doctor.output)")
            // The server can still read what has no name any more.
            let rescue = try await hub.command(["hub", "backup", "rescue.sqlite"])
            #expect(rescue.status == 0, "\(rescue.errors)")
        }
    }
}
