import Foundation
import Glibc
import NIOCore
import NIOPosix
import PushModel
import Testing

@testable import Delivery

/// nghttpd of Debian as the server, which is an independent reader of the client's frames.
@Suite struct NghttpdTests {
    @Test func `nghttpd reads every request, and all its answers are read`() async throws {
        let identity = try TestIdentity()
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushhost-nghttpd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try identity.certificatePEM.write(to: folder.appending(path: "cert.pem"), atomically: true, encoding: .utf8)
        try identity.keyPEM.write(to: folder.appending(path: "key.pem"), atomically: true, encoding: .utf8)
        let (server, port) = try await started(in: folder)
        // Nothing more is requested from it: it ignores SIGTERM.
        defer { kill(server.processIdentifier, SIGKILL) }
        let transport = HTTP2Transport(
            route: PushRoute(host: "127.0.0.1", port: port, name: "localhost"), trust: identity.trust, limits: .init().generous,
            random: SeededRandom(seed: 1))
        let outcomes = await withTaskGroup(of: [PushOutcome].self) { group in
            for number in UInt64(1)...20 {
                group.addTask { await transport.send(.test(number, count: 100, body: number == 20 ? 5_000 : 210)) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(outcomes.count == 2_000)
        let answers = outcomes.compactMap { if case .answered(let answer) = $0 { answer } else { nil } }
        #expect(answers.count == 2_000)
        #expect(answers.allSatisfy { $0.status == 404 })
        #expect(answers.allSatisfy { String(decoding: $0.details?.body ?? [], as: UTF8.self).contains("404") })
        await transport.shutdown()
    }

    /// Starts on a free port; tries another one if the port was taken in between and nghttpd has exited.
    private func started(in folder: URL) async throws -> (Process, Int) {
        for _ in 0..<20 {
            let probe = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).bind(host: "127.0.0.1", port: 0).get()
            let port = try #require(probe.localAddress?.port)
            try await probe.close().get()
            let server = Process()
            server.executableURL = URL(filePath: "/usr/sbin/nghttpd")
            server.currentDirectoryURL = folder
            server.arguments = ["--address=127.0.0.1", "--htdocs=\(folder.path)", "\(port)", "key.pem", "cert.pem"]
            server.standardOutput = FileHandle.nullDevice
            server.standardError = FileHandle.nullDevice
            try server.run()
            while server.isRunning {
                let client = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                guard let channel = try? await client.connect(host: "127.0.0.1", port: port).get() else { continue }
                try await channel.close().get()
                return (server, port)
            }
        }
        throw NoPort()
    }

    private struct NoPort: Error {}
}
