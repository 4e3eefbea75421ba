import Bindings
import Foundation
import HostSupport
import Lua
import PushLab
import PushModel
import Support
import Synchronization
import Testing

/// Rehearsals over sockets when the machine has no file descriptors left.
@Suite struct WireShortageTests {
    private static let flow = """
        local push = require "push"
        local ana = push.device { name = "ana", platform = "apns" }
        push.send { device = ana, alert = "Hello" }
        """

    /// Long enough to be written without buffering.
    private static let loud = "print(('x'):rep(70000)) "

    /// Runs a command with a limit of open files.
    private func limited(_ files: Int, _ command: String, in folder: ScriptFolder) async throws -> BuiltProgram {
        try await BuiltProgram.shell("ulimit -n \(files); exec $P \(command)", in: folder.url)
    }

    @Test(arguments: [12, 14, 16, 18, 20])
    func `a command without enough descriptors for its sockets runs nothing and reports the limit`(files: Int) async throws {
        let folder = try ScriptFolder([
            "flow.lua": Self.flow, "a_spec.lua": "local push = require('push') push.test.it('a', function() end)",
        ])
        for command in ["run flow.lua", "test a_spec.lua", "repl"] {
            let refused = try await limited(files, "\(command) --wire network", in: folder)
            #expect(refused.status == 2, "\(command): \(refused.output)\(refused.errors)")
            #expect(refused.errors.contains("error[simulators.unusable]: --wire network opens up to"), "\(refused.errors)")
            #expect(refused.errors.contains("the system allows \(files) in all"))
            #expect(refused.errors.contains("ulimit -n, or leave out --wire network"))
        }
        let json = try await limited(files, "run flow.lua --wire network --json", in: folder)
        #expect(json.output.contains("simulators.unusable"))
        // Without sockets the limit does not matter.
        #expect(try await limited(files, "run flow.lua", in: folder).status == 0)
        for command in ["simulate", "simulate apns"] {
            let refused = try await limited(files, command, in: folder)
            #expect(refused.status == 2 && refused.errors.contains("error[simulators.unusable]: pushhost \(command) opens"))
        }
    }

    /// - Parameter files: nil for the hard limit of the system.
    private func limit(_ program: Dialogue, to files: Int?) async throws {
        let number = files.map { "\($0)" } ?? "$(prlimit --pid \(program.id) --nofile --noheadings --output HARD)"
        let changed = try await BuiltProgram.shell("prlimit --pid \(program.id) --nofile=\(number):")
        #expect(changed.status == 0, "\(changed.errors)")
    }

    @Test func `when descriptors run out, sends fail with a clear error, and they work again when there are some`()
        async throws
    {
        let folder = try ScriptFolder()
        let repl = try Dialogue(["repl", "--wire", "network"], in: folder.url)
        repl.say("ana = push.device { name = 'ana', platform = 'apns' }\nprint 'ready'\n")
        try await repl.hear("ready")
        /// The lowest free descriptor number; a few below it may become free.
        let taken = try FileNumbers.highest(of: repl.id) + 1
        // The listener, the client's socket and the server's socket fail in turn.
        for files in taken...(taken + 2) {
            try await limit(repl, to: files)
            repl.say("push.send { device = ana, alert = 'Hello' }\n")
            let heard = try await repl.hear("leave out --wire network")
            #expect(heard.contains("error[simulators.unusable]: the simulated APNs cannot be reached through local sockets"), "\(heard)")
            #expect(heard.contains("Too many open files"), "\(heard)")
        }
        try await limit(repl, to: nil)
        repl.say("print(#push.send { device = ana, alert = 'again' }.outcomes, 'sent')\n")
        try await repl.hear("sent")
        repl.signal(SIGINT)
        _ = await repl.end()
    }

    /// Sockets that report a failure of the machine.
    private final class FailingSockets: WorldConnections {
        private let state = Mutex((failure: PushError?.none, action: (@Sendable () -> Void)?.none))

        func fail() {
            let action = state.withLock { state in
                state.failure = PushError("simulators.unusable", "no sockets", hint: "get some")
                return state.action
            }
            action?()
        }

        func onFailure(_ action: (@Sendable () -> Void)?) { state.withLock { $0.action = action } }
        func consumeFailure() -> PushError? { state.withLock { $0.failure } }
        func shortenTimeouts(permanently: Bool) {}
        func end() async {}
    }

    @Test func `a failure of the machine ends the run with that error, whatever the flow does`() async throws {
        for lua in ["while true do end", "error 'mine'", "return 1"] {
            let thread = LuaThread(name: "failing")
            defer { thread.stop() }
            var world = try EmbeddedWorld(seed: 1, thread: thread, module: BindingRegistry.standard, secrets: TestSecrets()).world
            let sockets = FailingSockets()
            world.connections = sockets
            let report = await FlowRunner(world: world, thread: thread, limits: LuaLimits(cpu: .seconds(60)), seed: 1).run(
                FlowScript(name: "flow.lua", source: Array((Self.loud + lua).utf8), version: "abc123"), run: "r-0001"
            ) { _ in sockets.fail() }
            guard case .raised(let error) = report.verdict else {
                Issue.record("\(lua): \(report.verdict)")
                continue
            }
            #expect(error.code == "simulators.unusable" && error.message == "no sockets" && error.hint == "get some")
        }
    }
}
