package import Crypto
package import PushBackend
package import PushHub
package import PushModel
import Storage
import Synchronization

/// A hub with accounts and an app backend, on a virtual clock and in front of a scripted connector.
package final class HubBench: Sendable {
    /// Monday, 5 January 2026, 09:00 UTC.
    package static let startTime = Timestamp(seconds: 1_767_603_600)

    package static let key = SymmetricKey(data: Array(UInt8(0)..<32))

    package let clock: VirtualClock
    package let random: SeededRandom
    package let connector: ScriptedConnector
    package let hub: NotificationHub
    package let store = BreakableStore(MemoryHubStore())
    package let accounts: AccountService
    package let secureStore: any SecurePayloadStore = MemorySecurePayloadStore()
    package let securePayloads: SecurePayloadService
    package let backend: AppBackend
    package let environment: HubEnvironment
    private let log: EventLog
    private let background: Background

    package init(
        registrationTTL: Duration? = nil, isTutorialMode: Bool = false, sessionLifetime: Duration = .seconds(3600),
        platforms: Set<Platform> = Set(Platform.delivered), seed: UInt64 = 1,
        hooks: any HubHooks = NoHooks()
    ) throws {
        let log = EventLog()
        let background = Background()
        clock = VirtualClock(now: Self.startTime)
        random = SeededRandom(seed: seed)
        connector = ScriptedConnector(clock: clock, platforms: platforms)
        let environment = HubEnvironment(
            clock: clock, random: random, start: { background.start($0) }, observer: { log.append($0) }, hooks: hooks)
        hub = NotificationHub(
            environment: environment, connectors: [connector], store: store,
            settings: HubSettings(registrationTTL: registrationTTL))
        accounts = try AccountService(
            environment: environment, store: MemoryAccountStore(), cost: .rehearsal, isTutorialMode: isTutorialMode,
            sessionLifetime: sessionLifetime)
        securePayloads = try SecurePayloadService(environment: environment, store: secureStore, key: Self.key)
        backend = AppBackend(environment: environment, accounts: accounts, hub: hub, securePayloads: securePayloads)
        self.environment = environment
        self.log = log
        self.background = background
    }

    /// Opens the hub as a new process would: from the store alone.
    package func reopened(_ settings: HubSettings = HubSettings()) async throws -> NotificationHub {
        let hub = NotificationHub(
            environment: environment, connectors: [connector], store: store, loaded: try await store.load(into: HubLoader()),
            settings: settings)
        try await hub.resume()
        return hub
    }

    package var events: [CoreEvent] { log.events }

    package func notes(_ area: CoreEvent.Area) -> [String] { events.filter { $0.area == area }.map(\.text) }

    /// The same app backend over another hub or another store.
    package func backend(
        over hub: (any HubGateway)? = nil, store: (any SecurePayloadStore)? = nil
    ) throws -> AppBackend {
        let service = try SecurePayloadService(environment: environment, store: store ?? secureStore, key: Self.key)
        return AppBackend(environment: environment, accounts: accounts, hub: hub ?? self.hub, securePayloads: service)
    }

    /// Logs the user in, and creates the account if there is none.
    package func login(_ username: String) async throws -> Session {
        let password = Secret("password of \(username)")
        _ = try await accounts.ensureAccount(username: username, password: password)
        return try await accounts.login(username: username, password: password)
    }

    package func advance(by duration: Duration) { clock.advance(to: clock.now + duration) }

    /// Runs `work` and advances the clock from deadline to deadline until it ends.
    package func passingTime<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task { try await work() }
        background.add(Task { _ = await task.result })
        await settle()
        return try await task.value
    }

    /// Advances the clock until all background work has ended.
    package func settle() async {
        while background.isBusy {
            if !clock.advanceToNextDeadline() { await Task.yield() }
        }
    }

    /// Waits until a task sleeps on the clock.
    package func untilSomebodySleeps() async throws {
        try await until { clock.hasSleepingTasks }
    }

    /// Creates a registration and returns it.
    @discardableResult
    package func register(
        _ handle: DeviceHandle, tags: [String] = [], template: String? = nil, pushVariables: [String: String] = [:]
    ) async throws -> Registration {
        try await hub.createRegistration(
            RegistrationDescription(
                handle: handle, tags: try tags.map { try Tag($0) },
                template: try template.map { try RegistrationTemplate(body: $0, platform: handle.platform) },
                pushVariables: pushVariables))
    }

    /// Sends a text to the devices that match an expression, or to everyone if nil.
    @discardableResult
    package func send(_ text: String = "Hello", to expression: String?) async throws -> NotificationOutcome {
        try await hub.send(.alert(text, to: expression))
    }
}

extension NotificationRequest {
    package static func alert(_ text: String = "Hello", to expression: String? = nil) throws -> NotificationRequest {
        NotificationRequest(
            audience: try audience(expression), content: .native(AlertPayloads.system(title: nil, text: text)))
    }

    package static func properties(
        _ properties: [String: String], to expression: String? = nil
    ) throws -> NotificationRequest {
        NotificationRequest(audience: try audience(expression), content: .template(properties))
    }

    private static func audience(_ expression: String?) throws -> Audience {
        guard let expression else { return .everyone }
        return .expression(try TagExpression(parsing: expression))
    }
}

extension DeviceHandle {
    /// An APNs token of 32 bytes, different for each number.
    package static func phone(_ number: Int) -> DeviceHandle {
        let digits = String(number, radix: 16, uppercase: true)
        return .apns(token: String(repeating: "0", count: 64 - digits.utf8.count) + digits)
    }

    package static let subscription = DeviceHandle.browser(
        endpoint: "https://push.example/send/1", p256dh: "B" + String(repeating: "A", count: 86),
        auth: String(repeating: "a", count: 22))
}

/// The error that the work throws, or nil if it succeeds.
package func refusal<Result>(_ work: () async throws -> Result) async -> PushError? {
    do {
        _ = try await work()
        return nil
    } catch {
        return error as? PushError
    }
}

private final class EventLog: Sendable {
    private let kept = Mutex<[CoreEvent]>([])

    var events: [CoreEvent] { kept.withLock { $0 } }

    func append(_ event: CoreEvent) { kept.withLock { $0.append(event) } }
}

private final class Background: Sendable {
    private let running = Mutex(0)

    var isBusy: Bool { running.withLock { $0 > 0 } }

    func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        running.withLock { $0 += 1 }
        return Task {
            await work()
            running.withLock { $0 -= 1 }
        }
    }

    func add(_ task: Task<Void, Never>) { _ = start { await task.value } }
}
