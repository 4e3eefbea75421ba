import Bindings
import Lua
import PushCore

/// What one flow runs against: everything in this process, or a target on another machine.
struct FlowPlace: Sendable {
    let world: FlowWorld
    private let remote: RemoteWorld?

    /// - Parameters:
    ///   - errors: where questions are asked.
    ///   - printing: what is on the same screen.
    ///   - trace: is told what happens, where somebody wants to know.
    /// Throws what the files of secrets are wrong with, and why the target cannot be reached.
    init(
        _ plan: TargetPlan, for script: FlowScript, run id: String, _ command: RunCommand, _ thread: LuaThread, _ sources: SourceFiles?,
        _ errors: Output, _ printing: RunPrinting,
        trace: (@Sendable (FlowEvent) -> Void)?
    ) async throws(PushError) {
        switch plan {
        case .here:
            let secrets = try ProjectSecrets(demoFolder: script.folder, sources: sources)
            world = try EmbeddedWorld(
                seed: command.seed, thread: thread, secrets: secrets, isTutorialMode: command.tutorialMode, wire: try command.wire.opened(),
                trace: trace
            ).world
            remote = nil
        case .remote(let settings):
            guard !command.tutorialMode else {
                throw PushError(
                    "usage.value", "--tutorial-mode is for the embedded target",
                    hint: "a server has its own: pushhost serve --tutorial-mode",
                    status: 400)
            }
            guard command.wire == .process else {
                throw PushError(
                    "usage.value", "--wire \(command.wire.rawValue) is for the embedded target",
                    hint: "\(settings.name) is on the network as it is: leave out --wire, or leave out --target", status: 400)
            }
            let (isSaid, questions) = (command.target.yes, Questions())
            let run = RemoteWorld.Run(
                id: id, thread: thread, isConfirmed: isSaid,
                secrets: { withDemo throws(PushError) in
                    try ProjectSecrets(demoFolder: withDemo ? script.folder : nil, sources: sources)
                },
                confirm: { text throws(PushError) in
                    printing.begin()
                    guard !isSaid else { return printing.interrupt { errors.note(text) } }
                    try await questions.ask(Question(text: text, code: "policy.production"), on: errors, over: printing.output)
                }, trace: trace, config: command.target.config)
            let remote = try await RealDeadline.keeping(command.timeout, or: "\(settings.name) could not be reached") {
                () async throws(PushError) in
                try await RemoteWorld.opening(settings, for: run)
            }
            world = remote.world
            self.remote = remote
        }
    }

    /// Whether a target lent something.
    var isLent: Bool { remote?.isLent == true }

    /// Closes the world, and gives back what a target lent; answers why it could not.
    func close() async -> PushError? {
        await world.end()
        return await remote?.close()
    }
}
