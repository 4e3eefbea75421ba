import Bindings
import Lua
import PushCore

/// What one flow runs against: everything in this process, or a target on another machine.
struct FlowPlace: Sendable {
    let world: FlowWorld
    /// What stands in the place of the hub where the flow is planned; else nil.
    let planning: PlanningHub?
    private let remote: RemoteWorld?

    /// - Parameters:
    ///   - errors: where questions are asked.
    ///   - printing: what is on the same screen.
    ///   - trace: is told what happens, where somebody wants to know.
    ///   - told: how many devices each plan tells, where the flow is planned: nothing is sent, and another machine stays as it is. Else nil.
    /// Throws what the files of secrets are wrong with, and why the target cannot be reached.
    init(
        _ plan: TargetPlan, for script: FlowScript, run id: String, _ command: RunCommand, _ thread: LuaThread, _ sources: SourceFiles?,
        _ errors: Output, _ printing: RunPrinting,
        trace: (@Sendable (FlowEvent) -> Void)?, planningFor told: Int? = nil
    ) async throws(PushError) {
        switch plan {
        case .here:
            let secrets = try ProjectSecrets(demoFolder: script.folder, sources: sources)
            var made: PlanningHub?
            var world = try EmbeddedWorld(
                seed: command.seed, thread: thread, secrets: secrets, isTutorialMode: command.tutorialMode, wire: try command.wire.opened(),
                trace: trace
            ) { hub, clock in
                guard let told else { return hub }
                // Nobody else uses this hub: what the flow registers there is what it plans for.
                let planning = PlanningHub(
                    hub, clock: clock, random: SeededRandom.derived(from: command.seed, for: "plans"), isPretended: false, told: told)
                made = planning
                return planning
            }.world
            if told != nil { world.target = world.target.planned }
            (self.world, planning, remote) = (world, made, nil)
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
            var world = remote.world
            var made: PlanningHub?
            if let told {
                let hub = PlanningHub(world.hub, clock: world.clock, random: SystemRandom(), isPretended: true, told: told)
                (world.hub, made) = (hub, hub)
                world.backend = PlanningBackend(world.backend, hub: hub, clock: world.clock)
                world.target = world.target.planned
            }
            (self.world, planning, self.remote) = (world, made, remote)
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
