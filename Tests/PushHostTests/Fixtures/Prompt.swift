import Bindings
import Lua
import Synchronization

@testable import PushHost
@testable import PushLab

/// An interactive flow in the embedded simulation, in this process.
final class Prompt: Sendable {
    let flow: InteractiveFlow
    private let lines = Mutex(ReplLines())
    private let heard: Heard
    private let thread: LuaThread

    private final class Heard: Sendable {
        let errors = Mutex<[LuaError]>([])
        let log = Mutex<[String]>([])
    }

    init(limits: LuaLimits = LuaLimits()) async throws {
        let (heard, thread) = (Heard(), LuaThread(name: "prompt"))
        let world = try EmbeddedWorld(seed: 1, thread: thread, module: BindingRegistry.standard, secrets: TestSecrets())
        flow = try await InteractiveFlow(
            runner: FlowRunner(world: world.world, thread: thread, limits: limits, seed: 1),
            events: { event in
                if case .log(_, let text, _) = event { heard.log.withLock { $0.append(text) } }
            }, failures: { error in heard.errors.withLock { $0.append(error) } })
        (self.heard, self.thread) = (heard, thread)
    }

    deinit { thread.stop() }

    /// Evaluates a line and returns its value; nil if it has none, raises an error or is unfinished.
    @discardableResult
    func type(_ line: String) async -> String? {
        let (chunk, first) = lines.withLock { lines in
            lines.append(line)
            return (lines.chunk.joined(separator: "\n"), lines.first)
        }
        let answer = await flow.evaluate(chunk, firstLine: first, isComplete: false)
        if answer != .unfinished { lines.withLock { $0.close() } }
        if case .value(let value) = answer { return value }
        return nil
    }

    /// The codes of the errors reported.
    var told: [String] { heard.errors.withLock { $0.map(\.code) } }
    var errors: [LuaError] { heard.errors.withLock { $0 } }
    var log: [String] { heard.log.withLock { $0 } }
}
