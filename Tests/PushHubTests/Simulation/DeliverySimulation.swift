import PushHub
import PushModel
import Storage
import Support
import Synchronization

/// Runs a hub through random events: sends, cancellations, registrations, faults of services and disk, and crashes. All of it, and
/// the order of tasks, comes from one seed. At the end, reports what is wrong.
final class DeliverySimulation: Sendable {
    private static let actions = 40
    /// Limit for one simulation. A simulation with more jobs never ends.
    private static let mostJobs = 2_000_000

    let world: SimulatedWorld
    /// The contents of the disk.
    let stored: any HubStore
    private let executor: ShuffledExecutor
    private let environment: HubEnvironment
    private let settings: HubSettings
    private let process = Mutex<CrashingProcess?>(nil)
    private let running = Atomic(0)
    private let phones = Atomic(0)

    /// - Parameters:
    ///   - hasHooks: Whether hooks skip and defer devices.
    ///   - disk: Wraps the disk. A control test passes a faulty one.
    init(seed: UInt64, hasHooks: Bool = false, disk: (any HubStore) -> any HubStore = { $0 }) {
        let clock = VirtualClock(now: HubBench.startTime)
        let executor = ShuffledExecutor(seed: seed)
        let world = SimulatedWorld(seed: seed, clock: clock)
        self.executor = executor
        self.world = world
        stored = disk(MemoryHubStore())
        environment = HubEnvironment(
            clock: clock, random: SeededRandom.derived(from: seed, for: "ids"), start: { executor.start($0) },
            observer: { event in
                if event.text.contains("does not respond") { world.history.tripped() }
            }, hooks: hasHooks ? RandomHooks(world: world) : NoHooks())
        settings = HubSettings(
            limits: HubSettings.Limits(concurrentNotifications: world.number(1...4)),
            dispatch: HubSettings.Dispatch(
                isConcurrent: world.chance(80), devicesPerStep: world.number(3...12), retryJitter: world.chance(50) ? 0.25 : 0))
    }

    // MARK: - Running

    /// Runs the simulation and returns what is wrong at its end.
    func run() async -> [String] {
        await ShuffledExecutor.onThread { [self] in
            begin { await self.open() }
            var (actions, jobs) = (0, 0)
            while jobs < Self.mostJobs {
                jobs += 1
                if actions < Self.actions, world.chance(3) || running.load(ordering: .relaxed) == 0 {
                    actions += 1
                    begin { await self.act() }
                } else if actions == Self.actions {
                    actions += 1
                    world.heal()
                    begin { await self.restart(kills: false) }
                }
                if executor.runNext() || world.clock.advanceToNextDeadline() { continue }
                if actions > Self.actions { break }
            }
            guard jobs < Self.mostJobs else { return ["it never comes to rest"] }
            let flaws = Mutex<[String]>([])
            begin {
                let found = await SimulationCheck(self).flaws()
                flaws.withLock { $0 = found }
            }
            while executor.runNext() {}
            return flaws.withLock { $0 }
        }
    }

    private func begin(_ work: @escaping @Sendable () async -> Void) {
        running.wrappingAdd(1, ordering: .relaxed)
        _ = executor.start {
            await work()
            self.running.wrappingSubtract(1, ordering: .relaxed)
        }
    }

    private func open() async {
        await start()
        for _ in 0..<world.number(20...50) { await register() }
        // Two registrations with the same handle, which must get every push once.
        for number in 0..<4 { await register(number) }
    }

    private func act() async {
        switch world.number(0...16) {
        case 0...4: await send()
        case 5: await cancel()
        case 6: await register()
        case 7: await delete()
        case 8...10: world.turn(world.pick([.apns, .fcmV1]))
        case 11: world.turnDisk()
        case 12: world.heal()
        case 13: await restart(kills: true)
        case 14: await restart(kills: false)
        case 15: await restore()
        default: world.clock.advance(to: world.clock.now + .seconds(world.number(1...4000)))
        }
    }

    // MARK: - Processes

    private var hub: NotificationHub? { process.withLock { $0?.hub } }

    private func start() async {
        guard let started = await CrashingProcess.start(over: stored, in: world, environment, settings) else {
            // The next process starts with a working disk and services.
            world.heal()
            return await start()
        }
        process.withLock { $0 = started }
    }

    private func restart(kills: Bool) async {
        // Another task may already be restarting the process.
        guard let old = process.withLock({ process in process.take() }) else { return }
        world.history.crashed()
        if kills {
            old.process.die()
            begin { await old.hub.stop() }
        } else {
            await old.hub.stop()
            old.process.die()
        }
        await start()
    }

    // MARK: - Actions

    private func restore() async {
        world.history.restored()
        _ = try? await hub?.restore(PrunedFilter())
    }

    private static let expressions = [nil, "a", "b", "a && !b", "a || b", "nobody"]

    private func send() async {
        guard let hub else { return }
        guard let request = try? request() else { return }
        let time: Timestamp? = world.chance(20) ? world.clock.now + .seconds(world.number(0...5000)) : nil
        let asked = world.history.ask()
        if world.chance(15) {
            if let id = try? await hub.send(request).id { world.history.accepted(id, testedNames: asked) }
        } else if let id = try? await hub.accept(request, at: time).outcome.id {
            world.history.accepted(id, testedNames: asked)
        }
    }

    private func request() throws -> NotificationRequest {
        var request = try NotificationRequest.alert(to: world.pick(Self.expressions))
        if world.chance(15) { request.audience = .devices((0..<world.number(1...5)).map { .phone(1000 + $0) }) }
        if world.chance(30) { request.options.expiration = world.clock.now + .seconds(world.number(1...3600)) }
        if world.chance(20) { request.pace = try Pace("10/s") }
        return request
    }

    private func cancel() async {
        guard let hub, let id = world.history.contents.accepted.keys.sorted().last else { return }
        if (try? await hub.cancel(notification: id)) != nil { world.history.cancelled(id) }
    }

    /// - Parameter number: The number of a phone that is already registered.
    private func register(_ number: Int? = nil) async {
        guard let hub else { return }
        let number = number ?? phones.wrappingAdd(1, ordering: .relaxed).newValue - 1
        let handle = number % 5 == 4 ? DeviceHandle.fcmV1(token: "fcm:token-\(number)") : .phone(number)
        let tags = [number % 2 == 0 ? "a" : nil, number % 3 == 0 ? "b" : nil].compactMap { $0.flatMap { Tag(validating: $0) } }
        guard let registration = try? await hub.createRegistration(RegistrationDescription(handle: handle, tags: tags)) else { return }
        world.history.registered(registration)
    }

    private func delete() async {
        // Phones with one registration only: another registration of a phone would get the pushes of this one.
        let candidates = world.history.contents.lives.values.filter { life in
            life.deleted == nil && !(0..<4).contains { life.registration.handle == .phone($0) }
        }
        guard let hub, !candidates.isEmpty else { return }
        let id = world.pick(candidates.map(\.registration.id).sorted { $0.text < $1.text })
        world.history.deletes(id)
        try? await hub.deleteRegistration(id, ifMatch: nil)
    }
}
