package import Bindings
import Crypto
import Delivery
package import Lua
import PushBackend
import PushHub
package import PushModel
import PushRuntime
import Simulators
import Storage
import Synchronization

/// A complete push system in this process: hub, backend, connectors, simulated services and phones, on a virtual clock.
///
/// The same seed gives the same world. Signing keys are random, because they are never shown. What is visible of Web Push, public keys and
/// ciphertext, is derived from the seed.
package struct EmbeddedWorld {
    let clock: VirtualClock
    package let world: FlowWorld
    /// The plugins that the world loads.
    package let plugins: PluginHost

    /// The start time of every rehearsal: Monday, 5 January 2026, 09:00 UTC.
    static let startTime = Timestamp(seconds: 1_767_603_600)

    private static let recordedExchanges = 10_000

    /// - Parameters:
    ///   - wire: how the hub reaches the services. With `.network`, await ``FlowWorld/end()`` at the end.
    ///   - around: may wrap the hub for everything that uses it, scripts and the backend alike.
    package init(
        seed: UInt64, thread: LuaThread, module: any FlowModule, secrets: any SecretSource, isTutorialMode: Bool = false,
        wire kind: RehearsalWire = .process,
        trace: (@Sendable (FlowEvent) -> Void)? = nil, around: (any HubGateway, VirtualClock) -> any HubGateway = { hub, _ in hub }
    ) throws(PushError) {
        let clock = VirtualClock(now: Self.startTime)
        let memory = WorldMemory()
        let recorded = Atomic(0)
        var observer: (@Sendable (CoreEvent) -> Void)?
        if let trace { observer = { trace(.core($0)) } }
        let wireObserver: @Sendable (WireExchange) -> Void = { exchange in
            // The recording is a ring buffer: beyond its capacity an exchange replaces an older one and needs no more memory.
            if recorded.wrappingAdd(1, ordering: .relaxed).oldValue < Self.recordedExchanges { memory.grew(by: exchange.storedBytes) }
            trace?(.crossed(exchange))
        }
        let socket = LateBoundHooks()
        let start: @Sendable (@escaping @Sendable () async -> Void) -> Task<Void, Never> = { work in
            Task(executorPreference: thread) { await work() }
        }
        let serverKey = ApplicationServerKey(seed: seed)
        let lab = SimulatedLab(
            clock: clock, random: SeededRandom.derived(from: seed, for: "phones"),
            applicationServerKey: { serverKey.publicKey }, memory: memory, observer: observer)
        let environment = HubEnvironment(
            clock: clock, random: SeededRandom.derived(from: seed, for: "hub"), start: start, observer: observer, hooks: socket,
            deviceObserver: SimulatedDeviceObserver(phones: lab.phones))
        let services = SimulatedServices(lab: lab.phones, clock: clock, seed: seed, applicationServerKey: serverKey)
        let (base, connections) = kind.transport(to: services, thread: thread)
        let wireFaults = WireFaults()
        let wire = RecordingTransport(
            FaultyTransport(
                base: base, clock: clock, faults: wireFaults, platform: { services.platform(of: $0) }), clock: clock,
            capacity: Self.recordedExchanges,
            observer: wireObserver,
            service: { services.platform(of: $0) ?? .browser })
        let hub = around(
            NotificationHub(
                environment: environment,
                connectors: services.connectors(
                    transport: wire, clock: clock, random: SeededRandom.derived(from: seed, for: "connectors")),
                store: MemoryHubStore()), clock)
        let accounts = try AccountService(
            environment: environment, store: MemoryAccountStore(), cost: .rehearsal, isTutorialMode: isTutorialMode)
        let securePayloads = try SecurePayloadService(
            environment: environment, store: MemorySecurePayloadStore(), key: SymmetricKey(size: .bits256))
        self.clock = clock
        var world = FlowWorld(
            target: FlowWorld.Target(name: "embedded", isSimulated: true), module: module, hub: hub,
            backend: AppBackend(environment: environment, accounts: accounts, hub: hub, securePayloads: securePayloads),
            simulation: FlowWorld.Simulation(
                lab: lab, wire: wire, faults: SimulatedFaults(wires: wireFaults) { services[$0] }),
            clock: clock, secrets: secrets, zones: SystemTimeZones.shared)
        world.connections = connections
        world.memory = memory
        let plugins = PluginHost(
            services: PluginServices(
                world: world, keyValues: MemoryKeyValueSpaces(), http: NoOutboundHTTP(), start: start), thread: thread)
        socket.connect(plugins)
        plugins.startTimers()
        world.plugins = plugins
        self.plugins = plugins
        self.world = world
    }
}

extension WireExchange {
    /// Estimated size of a recorded exchange in bytes.
    fileprivate var storedBytes: Int {
        (request.headers + response.headers).reduce(500 + request.body.count + response.body.count) {
            $0 + 60 + $1.name.utf8.count + $1.value.utf8.count
        }
    }
}
