import Bindings
import HostSupport
import Lua
import PushLab
import Synchronization

@testable import PushHost

/// An interactive flow in the embedded simulation, in this process.
final class Prompt: Sendable {
    let flow: InteractiveFlow
    private let lines = Mutex(ReplLines())
    private let record: PromptRecord
    private let thread: LuaThread

    private final class PromptRecord: Sendable {
        let errors = Mutex<[LuaError]>([])
        let log = Mutex<[String]>([])
    }

    init(limits: LuaLimits = LuaLimits()) async throws {
        let (record, thread) = (PromptRecord(), LuaThread(name: "prompt"))
        let world = try EmbeddedWorld(seed: 1, thread: thread, module: BindingRegistry.standard, secrets: TestSecrets())
        flow = try await InteractiveFlow(
            runner: FlowRunner(world: world.world, thread: thread, limits: limits, seed: 1),
            events: { event in
                if case .log(_, let text, _) = event { record.log.withLock { $0.append(text) } }
            }, failures: { error in record.errors.withLock { $0.append(error) } })
        (self.record, self.thread) = (record, thread)
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
    var told: [String] { record.errors.withLock { $0.map(\.code) } }
    var errors: [LuaError] { record.errors.withLock { $0 } }
    var log: [String] { record.log.withLock { $0 } }
}
