import Delivery
import Foundation
import HTTPTypes
import HostSupport
import Lua
import PushModel
import Simulators
import Support
import Testing

@testable import PushLab

/// Access to the sockets of a rehearsal, and their removal.
@Suite struct WireEndTests {
    private static let pushes = """
        local push = require "push"
        for _, name in ipairs { "apns", "fcm", "wns", "browser" } do
          push.send { device = push.device { name = name, platform = name }, alert = "Hello" }
        end

        """
    /// Long enough to be written without buffering.
    private static let endless = pushes + "print(('x'):rep(70000)) while true do end"

    /// The inodes of a process's open sockets.
    private func sockets(of process: pid_t) throws -> Set<String> {
        let folder = "/proc/\(process)/fd"
        return Set(
            try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))
                    .flatMap { $0.wholeMatch(of: /socket:\[(\d+)\]/).map { String($0.1) } }
            })
    }

    /// The local addresses of the TCP sockets among them. The kernel's table is read in parts: a row may appear twice or be missing
    /// while other sockets open and close.
    private func addresses(of process: pid_t) throws -> Set<String> {
        let own = try sockets(of: process)
        return try ["tcp", "tcp6"].reduce(into: []) { addresses, table in
            let file = try #require(FileHandle(forReadingAtPath: "/proc/\(process)/net/\(table)"))
            defer { try? file.close() }
            for row in String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n") {
                let columns = row.split(separator: " ")
                if columns.count > 9, own.contains(String(columns[9])) { addresses.insert(String(columns[1])) }
            }
        }
    }

    /// Makes the watch run a script that opens nothing, then checks that no socket is open.
    private func check(_ name: String, _ watch: Dialogue, _ folder: ScriptFolder) async throws {
        try folder.write("flow.lua", Data("print '\(name)'".utf8))
        try await watch.hear("│ \(name)")
        try await watch.hear("PASS")
        #expect(try sockets(of: watch.id) == [], "\(name)")
    }

    @Test func `a run listens on loopback ports only, and a cancelled one leaves no socket behind`() async throws {
        let folder = try ScriptFolder(["flow.lua": Self.endless])
        let watch = try Dialogue(["run", "flow.lua", "--watch", "--wire", "network"], in: folder.url)
        try await watch.hear("xxx")
        // One listener for each of the four services; idle connections may already be closed.
        #expect(try sockets(of: watch.id).count >= 4)
        let addresses = try addresses(of: watch.id)
        #expect(!addresses.isEmpty)
        #expect(addresses.allSatisfy { $0.hasPrefix("0100007F:") }, "\(addresses)")
        // The change cancels the run, as Ctrl-C does.
        try await check("after the cancelled one", watch, folder)
        watch.signal(SIGINT)
        #expect(await watch.end().status == 0)
    }

    @Test func `a run that passes, fails or exceeds its budget leaves no socket behind`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 'first'"])
        let watch = try Dialogue(
            ["run", "flow.lua", "--watch", "--wire", "network", "--instruction-limit", "3000000"], in: folder.url)
        try await watch.hear("PASS")
        for (lua, end) in [("", "4 delivered"), ("error 'mine'", "script.error"), ("while true do end", "budget.instructions")] {
            try folder.write("flow.lua", Data((Self.pushes + lua).utf8))
            try await watch.hear(end)
            try await check("after \(end)", watch, folder)
        }
        watch.signal(SIGINT)
        #expect(await watch.end().status == 0)
    }

    @Test func `Ctrl-C and a timeout end a run over the network`() async throws {
        let folder = try ScriptFolder(["flow.lua": Self.endless])
        let run = try Dialogue(["run", "flow.lua", "--wire", "network"], in: folder.url)
        try await run.hear("xxx", thenSignal: SIGINT)
        #expect(await run.end(closingInput: false).status == 130)
        let late = try await BuiltProgram.run(["run", "flow.lua", "--wire", "network", "--timeout", "200ms"], in: folder.url)
        #expect(late.status == 3)
        #expect(late.errors.contains("error[budget.wall]"))
    }

    private func services() -> SimulatedServices {
        let (clock, key) = (VirtualClock(now: EmbeddedWorld.startTime), ApplicationServerKey(seed: 1))
        let lab = SimulatedLab(clock: clock, random: SeededRandom(seed: 1), applicationServerKey: { key.publicKey })
        return SimulatedServices(lab: lab.phones, clock: clock, seed: 1, applicationServerKey: key)
    }

    private let request = HTTPRequest(
        method: .post, scheme: "https", authority: "api.push.apple.com", path: "/3/device/\(String(repeating: "a", count: 64))")

    @Test func `nothing is sent after the run has ended, and its port is closed`() async throws {
        let thread = LuaThread(name: "wire")
        defer { thread.stop() }
        guard case .network(let identity) = try WireKind.network.opened() else { return }
        let network = NetworkTransport(services: services(), identity: identity, thread: thread)
        #expect(await network.ports == [])
        #expect(try await network.exchange(request, body: Array("{}".utf8)).status == 403)
        let port = try #require(await network.ports.first)
        let knock = "exec 3<>/dev/tcp/127.0.0.1/\(port)"
        #expect(try await BuiltProgram.run(["-c", knock], tool: URL(filePath: "/bin/bash")).status == 0)
        await network.end()
        #expect(await network.ports == [])
        #expect(try await BuiltProgram.run(["-c", knock], tool: URL(filePath: "/bin/bash")).status != 0)
        await #expect(throws: TransportError.notSent("the run has ended")) {
            try await network.exchange(request, body: Array("{}".utf8))
        }
    }

    @Test func `only transports of the same run trust its certificate`() async throws {
        guard case .network(let own) = try WireKind.network.opened(), case .network(let other) = try WireKind.network.opened() else {
            return
        }
        let listener = try await ServiceListener(service: services().apns, identity: own)
        var limits = Delivery.HTTP2Limits()
        (limits.connect, limits.answer) = (.seconds(300), .seconds(300))
        for (identity, isTrusted) in [(own, true), (other, false)] {
            let roots = try TLSTrust.certificates(pem: Array(identity.certificate.utf8))
            let transport = SingleTransport(
                HTTP2Transport(
                    route: PushRoute(host: "127.0.0.1", port: listener.port), trust: TLSTrust(roots: .only(roots)), limits: limits,
                    random: SeededRandom(seed: 1)))
            do {
                #expect(try await transport.exchange(request, body: Array("{}".utf8)).status == 403)
                #expect(isTrusted)
            } catch {
                #expect(!isTrusted)
                guard case .notSent(let why) = error else { throw error }
                #expect(why.contains("not trusted"))
            }
            await transport.shutdown()
        }
        await listener.end()
    }

    // MARK: - Usage

    @Test func `an unknown wire is rejected with the valid ones`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 1", "a_spec.lua": "require('push').test.it('a', function() end)"])
        for command in [["run", "flow.lua"], ["test"], ["repl"]] {
            let refused = try await BuiltProgram.run(command + ["--wire", "nonsense"], in: folder.url)
            #expect(refused.status == 2)
            #expect(refused.errors.contains("process"))
            #expect(refused.errors.contains("network"))
            #expect(refused.errors.contains("nonsense"))
        }
    }

    @Test func `a target on another machine rejects --wire`() async throws {
        let folder = try ScriptFolder(["flow.lua": "print 1"])
        let words = ["run", "flow.lua", "--wire", "network", "--target", "http://127.0.0.1:9"]
        let refused = try await BuiltProgram.run(words, in: folder.url)
        #expect(refused.status == 2)
        #expect(refused.errors.contains("error[usage.value]: --wire network applies to the embedded target only"))
        #expect(refused.errors.contains("leave out --wire"))
        let json = try await BuiltProgram.run(words + ["--json"], in: folder.url)
        #expect(json.status == 2)
        #expect(json.output.contains("usage.value"))
    }
}
