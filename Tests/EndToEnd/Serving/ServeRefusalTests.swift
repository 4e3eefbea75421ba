import Foundation
import HostSupport
import PushModel
import PushRuntime
import Support
import Testing

@testable import PushServer

/// Errors of a server that cannot start, and warnings about what clients will reject.
@Suite struct ServeRefusalTests {
    @Test func `An address that cannot be listened on is reported with its setting, and nothing else is logged`() async throws {
        try await ServedHub.serving { hub in
            let folder = try ScriptFolder()
            for (options, expected, hint) in [
                (
                    ["--port", "0", "--tls-port", String(hub.tlsPort)],
                    "127.0.0.1:\(hub.tlsPort) (listen.tls_port): Address already in use",
                    "choose another port"
                ),
                (
                    ["--port", String(hub.port), "--tls-port", "none"], "127.0.0.1:\(hub.port) (listen.port): Address already in use",
                    "choose another port"
                ),
                (
                    ["--port", "0", "--tls-port", "none", "--host", "nope.invalid"],
                    "nope.invalid:0 (listen.port): unknown host",
                    "check listen.host"
                ),
            ] {
                let program = try await BuiltProgram.run(["serve", "--data", "data"] + options, in: folder.url)
                #expect(program.status == 2)
                #expect(program.errors.hasPrefix("error[serve.port]: the server cannot listen on \(expected)\n"), "\(program.errors)")
                #expect(program.errors.contains(hint), "\(program.errors)")
                #expect(program.output.isEmpty)
            }
        }
    }

    @Test(arguments: [[], ["--lab"]])
    func `With too few descriptors the server does not start and reports how many it needs`(options: [String]) async throws {
        let folder = try ScriptFolder()
        let few = 20 + DescriptorLimit.sharedLoopFiles
        let command = "ulimit -n \(few); exec $P serve --port 0 --tls-port none --data data \(options.joined(separator: " "))"
        let program = try await BuiltProgram.shell(command, in: folder.url)
        #expect(program.status == 2)
        let needed = DescriptorLimit.sharedLoopFiles + (options.isEmpty ? 44 : 68)
        #expect(
            program.errors.hasPrefix(
                "error[serve.files]: the server needs \(needed) files and sockets, and the system allows \(few), of which "),
            "\(program.errors)")
        #expect(program.errors.contains("ulimit -n") && !FileManager.default.fileExists(atPath: folder.url.appending(path: "data").path))
    }

    @Test func `An invalid option is named as it was written`() async throws {
        let program = try await BuiltProgram.run(["serve", "--tls-port", "abc"])
        #expect(program.status == 2)
        #expect(program.errors.contains("--tls-port: invalid value \"abc\"; must be 0 to 65535, or none"), "\(program.errors)")
    }

    @Test func `An expired certificate and a misspelled variable are reported in the log`() async throws {
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
            // The warning may come before the end of the startup banner.
            let warning = "the certificate: it expired on"
            if !hub.screen.contains(warning) { try await hub.hear(warning) }
            #expect(hub.screen.contains("unknown setting in the variable PUSHHOST_DTA; did you mean PUSHHOST_DATA?"))
        }
    }

    @Test(
        arguments: [
            (Data([0x68, 0x75, 0x62, 0x3a, 0x20, 0xff]), "error[settings.unreadable]: s.yaml is not UTF-8"),
            (Data(repeating: 0x23, count: 1 << 21), "error[settings.unreadable]: s.yaml has more than 1 MiB, the limit of a settings file"),
        ])
    func `An invalid settings file is rejected`(content: Data, expected: String) async throws {
        let folder = try ScriptFolder()
        try folder.write("s.yaml", content)
        let program = try await BuiltProgram.run(["serve", "--config", "s.yaml", "--data", "data"], in: folder.url)
        #expect(program.status == 2)
        #expect(program.errors.contains(expected), "\(program.errors)")
    }

    @Test func `An unusable file in the data folder is named`() async throws {
        let folder = try ScriptFolder()
        try FileManager.default.createDirectory(at: folder.url.appending(path: "data/lock"), withIntermediateDirectories: true)
        let program = try await BuiltProgram.run(["serve", "--data", "data"], in: folder.url)
        #expect(program.status == 2)
        #expect(
            program.errors.contains("error[data.unusable]: the data folder data cannot be used: data/lock: Is a directory"),
            "\(program.errors)")
    }

    @Test func `A server whose database was deleted is not ready, and the doctor reports it`() async throws {
        try await ServedHub.serving { hub in
            for ending in ["", "-wal", "-shm"] {
                try FileManager.default.removeItem(at: hub.data.appending(path: "pushhost.sqlite\(ending)"))
            }
            // The result of the readiness test is cached for some seconds.
            try await until { try await hub.call("GET", "/health/ready", by: nil).status == 503 }
            try await hub.hear("was removed or replaced: everything written now is lost")
            let doctor = try await hub.command(["doctor"])
            #expect(doctor.status == 1)
            #expect(doctor.output.contains("✗ database      data/pushhost.sqlite is missing"), "\(doctor.output)")
            #expect(doctor.output.contains("✗ server        it is not ready"), "\(doctor.output)")
            // The server can still read the deleted files.
            let rescue = try await hub.command(["hub", "backup", "rescue.sqlite"])
            #expect(rescue.status == 0, "\(rescue.errors)")
        }
    }
}
