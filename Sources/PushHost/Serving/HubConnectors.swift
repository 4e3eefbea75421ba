import Delivery
import Logging
import PushCore

/// Connectors for hubs: from a hub's own credentials where it has them, else to the simulators where the server knows some.
struct HubConnectors: Sendable {
    let transport: any PushTransport
    /// Connections to APNs.
    let apnsTransport: any PushBatchTransport
    let clock: any HubClock
    let random: any RandomSource
    let simulators: SimulatedConnectors?
    /// Whether nothing may leave the machine, whatever credentials a hub has.
    var isLab = false
    let providerTokens: any ProviderTokenStore
    let log: Logger
    private let outages = WatchedConnector.Outages()

    func connectors(of hub: HubRecord) -> [any Connector] {
        unwatched(hub).map { WatchedConnector(base: $0, hub: hub.name, outages: outages, log: log) }
    }

    private func unwatched(_ hub: HubRecord) -> [any Connector] {
        let credentials = hub.description.credentials
        let own: [(PlatformCredential.Kind, Set<Platform>, @Sendable (PlatformCredential) throws(PushError) -> any Connector)] = [
            (.apns, [.apns], apns), (.fcmV1, [.fcmV1, .gcm], fcm), (.wns, [.wns], wns), (.browser, [.browser], browser),
        ]
        if isLab, let kind = own.map(\.0).first(where: { credentials[$0]?.properties.isEmpty == false }) {
            log.warning("the hub \(hub.name) has credentials (\(kind.rawValue)): they are not used, it sends to the lab alone")
        }
        return own.compactMap { kind, platforms, make in
            if !isLab, let credential = credentials[kind], !credential.properties.isEmpty {
                return LazyConnector(platforms) { () throws(PushError) in try make(credential) }
            }
            return simulators?.connector(for: platforms)
        }
    }

    @Sendable private func apns(_ credential: PlatformCredential) throws(PushError) -> any Connector {
        let endpoint = credential["Endpoint"]?.reveal().lowercased() ?? ""
        let settings = APNsSettings(
            teamID: try credential.text("AppId", "APNs"), keyID: try credential.text("KeyId", "APNs"),
            privateKey: try credential.secret("Token", "APNs"), topic: try credential.text("AppName", "APNs"),
            environment: endpoint.contains("sandbox") || endpoint.contains("development") ? .development : .production)
        return try APNsConnector(
            settings: settings, transport: apnsTransport, clock: clock, random: random,
            token: try APNsProviderToken(settings: settings, clock: clock, store: providerTokens))
    }

    @Sendable private func fcm(_ credential: PlatformCredential) throws(PushError) -> any Connector {
        try FCMConnector(
            settings: FCMSettings(
                projectID: try credential.text("ProjectId", "FCM"), clientEmail: try credential.text("ClientEmail", "FCM"),
                privateKey: try credential.secret("PrivateKey", "FCM")), transport: transport, clock: clock)
    }

    @Sendable private func wns(_ credential: PlatformCredential) throws(PushError) -> any Connector {
        try WNSConnector(
            settings: WNSSettings(
                packageSID: try credential.text("PackageSid", "WNS"), clientSecret: try credential.secret("SecretKey", "WNS")),
            transport: transport, clock: clock)
    }

    @Sendable private func browser(_ credential: PlatformCredential) throws(PushError) -> any Connector {
        try WebPushConnector(
            settings: WebPushSettings(
                subject: try credential.text("Subject", "Web Push"), publicKey: try credential.text("VapidPublicKey", "Web Push"),
                privateKey: try credential.secret("VapidPrivateKey", "Web Push")),
            transport: transport, clock: clock, random: random)
    }
}

extension PlatformCredential {
    fileprivate func secret(_ name: String, _ service: String) throws(PushError) -> Secret {
        guard let value = self[name], !value.isEmpty else {
            throw PushError(
                "credential.invalid", "the hub's credential for \(service) has no \(name)", hint: "update the hub with all of it")
        }
        return value
    }

    fileprivate func text(_ name: String, _ service: String) throws(PushError) -> String { try secret(name, service).reveal() }
}
