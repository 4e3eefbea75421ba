import Crypto
import Delivery
import PushModel
import PushRuntime

/// The inputs that a server reads and checks before it opens anything: the key, the certificates and the addresses of its settings.
struct StartupInputs: Sendable {
    let database: FolderDatabase
    let keyFile: PayloadKeyFile
    let payloadKey: SymmetricKey
    /// The address of the push service simulators; nil without them.
    let simulators: WebAddress?
    let apns: HTTP2Transport
    /// Creates a transport for broadcast channels of APNs.
    let channels: @Sendable (ClientIdentity?) -> HTTPClientTransport
    /// Rejects addresses that are not public; nil allows all.
    let network: PublicNetwork?
    let trust: ServiceTransports.Trust
    let socket: ControlSocket

    /// Throws the errors of the data folder and of the key file, and `settings.invalid`.
    init(_ context: ServerContext) async throws(PushError) {
        let settings = context.settings.current
        if let keys = settings.backend.keys { try await IssuerKeySource(keys)?.checkFile() }
        database = try await FolderDatabase.preparing(context.folder)
        keyFile = PayloadKeyFile(settings)
        payloadKey = try keyFile.key()
        simulators = try settings.simulatorRoute
        apns = try settings.delivery.transport(random: context.random)
        network = settings.allowsPrivate ? nil : PublicNetwork(clock: context.clock)
        channels = try settings.delivery.channelTransport(network)
        trust = try ServiceTransports.Trust(settings.delivery)
        socket = try ControlSocket(folder: settings.data)
    }
}
