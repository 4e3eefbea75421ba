import Bindings
import HubWire
import PushCore
import RemoteHub

/// A target on another machine, reached: what a flow runs against there, and what has to be given back afterwards.
struct RemoteWorld {
    let world: FlowWorld
    private let connection: RemoteConnection

    /// Whom sends to production have to ask; throws where they shall not be.
    typealias Confirmation = @Sendable (_ question: String) async throws(PushError) -> Void

    /// Where secrets are, with those of the demo beside the script or without.
    typealias Secrets = @Sendable (_ withDemo: Bool) throws(PushError) -> any SecretSource

    /// Reaches the target and finds out what it is.
    ///
    /// - Parameter trace: is told of every request and how it was answered.
    /// Throws `target.*`, `connection.*`.
    static func opening(
        _ settings: TargetSettings, secrets: Secrets, confirm: @escaping Confirmation, trace: (@Sendable (FlowEvent) -> Void)?
    ) async throws(PushError) -> RemoteWorld {
        let connection = try RemoteConnection(authority: settings.authority, timeout: settings.timeout)
        do throws(PushError) {
            return try await RemoteWorld(settings, connection, secrets, confirm, trace)
        } catch {
            await connection.shutdown()
            throw error
        }
    }

    private init(
        _ settings: TargetSettings, _ connection: RemoteConnection, _ secrets: Secrets, _ confirm: @escaping Confirmation,
        _ trace: (@Sendable (FlowEvent) -> Void)?
    ) async throws(PushError) {
        let clock = SystemClock()
        let client = RemoteClient(connection: connection, clock: clock, random: SystemRandom(), observer: Self.observer(trace, clock))
        guard let text = settings.connection else {
            throw PushError(
                "target.key", "\(settings.name) is opened by a key, and none is given",
                hint: "give its connection string with --target or --connection, or name it in the settings")
        }
        let address = try HubAddress(try ConnectionString(parsing: text.reveal()), hub: settings.hub)
        let server = address.isAzure ? nil : try await ServerDescription.of(address.base, client.once)
        let hub = RemoteNotificationHub(
            address: address, client: client, clock: clock,
            options: .init(isPushHost: server != nil, patience: settings.patience))
        let base = settings.backend ?? (server == nil ? nil : "\(address.base)/\(address.hub)")
        let backend: any BackendGateway =
            base.map { RemoteBackend(base: $0, client: client, hub: hub) } ?? NoBackend(target: settings.name)
        world = FlowWorld(
            target: FlowWorld.Target(name: settings.name, isSimulated: false),
            hub: settings.isProduction ? Self.guarded(hub, settings.name, confirm) : hub, backend: backend,
            lab: RealDevices(target: settings.name, handles: settings.devices), wire: nil, clock: clock, secrets: try secrets(false))
        self.connection = connection
    }

    /// Gives back what the target lent.
    func close() async { await connection.shutdown() }

    private static func observer(
        _ trace: (@Sendable (FlowEvent) -> Void)?, _ clock: any HubClock
    ) -> (@Sendable (_ place: String, _ what: String) -> Void)? {
        guard let trace else { return nil }
        return { place, what in trace(.core(CoreEvent(time: clock.now, area: .hub, text: "\(place) \(what)"))) }
    }

    private static func guarded(
        _ hub: RemoteNotificationHub, _ target: String, _ confirm: @escaping Confirmation
    ) -> any HubGateway {
        GuardedHub(hub) { request throws(PushError) in
            let size = try await hub.audience(of: request)
            let devices = size.map { "\($0.isAtLeast ? "at least " : "")\($0.devices) device\($0.devices == 1 ? "" : "s")" }
            try await confirm(
                "\(target) is marked production: this goes to \(request.audience.phrase), \(devices ?? "nobody can say how many devices").")
        }
    }
}

extension Audience {
    /// In a question.
    fileprivate var phrase: String {
        switch self {
        case .everyone: "everyone"
        case .expression(let expression): "\"\(expression)\""
        case .device: "one device"
        case .devices(let handles): "\(handles.count) devices"
        }
    }
}
