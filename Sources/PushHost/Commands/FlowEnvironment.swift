import Bindings
import Lua
import PushHub
import PushLab
import PushModel
import PushRuntime

/// The environment that one flow runs in: an embedded world or a target on another machine.
struct FlowEnvironment: Sendable {
    let world: FlowWorld
    /// The hub that records sends without making them if the flow is planned; else nil.
    let planning: PlanningHub?
    private let remote: RemoteWorld?

    /// The properties of a run that its environment needs.
    struct Run: Sendable {
        let id: String
        /// The `push` module of the flow.
        let module: any FlowModule
        let script: FlowScript
        let command: RunCommand
        let thread: LuaThread
        /// Records every file before it is read, for `--watch`.
        let sources: SourceFiles?
        /// Receives the events of the run; nil if it is not traced.
        let trace: (@Sendable (FlowEvent) -> Void)?
    }

    /// - Parameters:
    ///   - errors: the stream on which questions are asked.
    ///   - printing: the printer that shares the screen with questions.
    ///   - deviceLimit: number of devices that each plan lists, if the flow is planned; nil to run it. Planning sends nothing and changes
    ///     nothing on a target.
    /// - Throws: the errors of invalid secrets files and of a target that cannot be reached.
    init(
        _ plan: RequestedTarget, for run: Run, _ errors: Output, _ printing: RunPrinter, planningFor deviceLimit: Int? = nil
    ) async throws(PushError) {
        let (script, command, module) = (run.script, run.command, run.module)
        let (thread, sources, trace) = (run.thread, run.sources, run.trace)
        switch plan {
        case .here:
            let secrets = try ProjectSecrets(demoFolder: script.folder, sources: sources)
            var made: PlanningHub?
            var world = try EmbeddedWorld(
                seed: command.seed, thread: thread, module: module, secrets: secrets, isTutorialMode: command.tutorialMode,
                wire: try command.wire.opened(),
                trace: trace
            ) { hub, clock in
                guard let deviceLimit else { return hub }
                // The embedded hub belongs to this flow, so that its registrations can be made and planned for.
                let planning = PlanningHub(
                    hub, clock: clock, random: SeededRandom.derived(from: command.seed, for: "plans"), simulatesRegistrations: false,
                    deviceLimit: deviceLimit)
                made = planning
                return planning
            }.world
            if deviceLimit != nil { world.target = world.target.planned }
            (self.world, planning, remote) = (world, made, nil)
        case .remote(let settings):
            guard !command.tutorialMode else {
                throw PushError(
                    "usage.value", "--tutorial-mode applies to the embedded target only",
                    hint: "for a server, use pushhost serve --tutorial-mode",
                    status: 400)
            }
            guard command.wire == .process else {
                throw PushError(
                    "usage.value", "--wire \(command.wire.rawValue) applies to the embedded target only",
                    hint: "leave out --wire or --target: \(settings.name) is on the network anyway", status: 400)
            }
            let (isPreconfirmed, questions) = (command.target.yes, ConfirmationQueue())
            let remoteRun = RemoteWorld.Run(
                id: run.id, thread: thread, module: module, isConfirmed: isPreconfirmed,
                secrets: { withDemo throws(PushError) in
                    try ProjectSecrets(demoFolder: withDemo ? script.folder : nil, sources: sources)
                },
                confirm: { text throws(PushError) in
                    printing.begin()
                    guard !isPreconfirmed else { return printing.interrupt { errors.note("\(text).") } }
                    try await questions.ask(Question(text: text, code: "policy.production"), on: errors, over: printing.output)
                }, trace: trace, config: command.target.config)
            let remote = try await RealDeadline.keeping(command.timeout, or: "\(settings.name) could not be reached") {
                () async throws(PushError) in
                try await RemoteWorld.opening(settings, for: remoteRun)
            }
            var world = remote.world
            var made: PlanningHub?
            if let deviceLimit {
                let hub = PlanningHub(
                    world.hub, clock: world.clock, random: SystemRandom(), simulatesRegistrations: true, deviceLimit: deviceLimit)
                (world.hub, made) = (hub, hub)
                world.backend = PlanningBackend(world.backend, hub: hub, clock: world.clock)
                world.target = world.target.planned
            }
            (self.world, planning, self.remote) = (world, made, remote)
        }
    }

    /// Whether the run uses a lab session that must be closed.
    var hasLabSession: Bool { remote?.hasLabSession == true }

    /// Closes the world and the lab session. Returns the error if that failed.
    func close() async -> PushError? {
        await world.end()
        return await remote?.close()
    }
}
