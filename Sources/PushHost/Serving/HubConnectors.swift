import Delivery
import Logging
import PushCore
import WebAPI

/// Connectors for hubs: from a hub's own credentials where it has them, from those of the settings, or else to the simulators where
/// the server knows some.
struct HubConnectors: Sendable {
    let transport: any PushTransport
    let clock: any HubClock
    let random: any RandomSource
    let simulators: SimulatedConnectors?
    /// Whether nothing may leave the machine, whatever credentials a hub has.
    var isLab = false
    let senders: APNsSenders
    /// For hubs that have no APNs credential of their own.
    var files: WatchedAPNsFiles?
    let log: Logger
    private let outages = WatchedConnector.Outages()

    func connectors(of hub: HubRecord) -> [any Connector] {
        unwatched(hub).map { WatchedConnector(base: $0, hub: hub.name, outages: outages, log: log) }
    }

    private func unwatched(_ hub: HubRecord) -> [any Connector] {
        let credentials = hub.description.credentials
        let apns: @Sendable (PlatformCredential) throws(PushError) -> any Connector = { [senders] credential throws(PushError) in
            try senders.connector(try senders.settings(credential, of: hub.name))
        }
        let services: [(PlatformCredential.Kind, Set<Platform>, @Sendable (PlatformCredential) throws(PushError) -> any Connector)] = [
            (.apns, [.apns], apns), (.fcmV1, [.fcmV1, .gcm], fcm), (.wns, [.wns], wns), (.browser, [.browser], browser),
        ]
        if isLab, let kind = services.map(\.0).first(where: { credentials[$0]?.properties.isEmpty == false }) {
            log.warning("the hub \(hub.name) has credentials (\(kind.rawValue)): they are not used, it sends to the lab alone")
        }
        return services.compactMap { kind, platforms, make in
            if let credential = own(kind, of: hub) {
                return LazyConnector(platforms) { () throws(PushError) in try make(credential) }
            }
            if kind == .apns, !isLab, let files { return APNsFileConnector(files, senders) }
            return simulators?.connector(for: platforms)
        }
    }

    /// Nil for one that is not used.
    private func own(_ kind: PlatformCredential.Kind, of hub: HubRecord) -> PlatformCredential? {
        guard !isLab, let credential = hub.description.credentials[kind], !credential.properties.isEmpty else { return nil }
        return credential
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

// MARK: - What is known of the credentials

extension HubConnectors {
    /// Of the hubs that send to APNs with a credential, their own or that of the settings. Reads certificates that were never read.
    func credentialStates(of hubs: [HubRecord]) -> [CredentialState] {
        guard !isLab else { return [] }
        return hubs.compactMap { hub in
            do throws(PushError) {
                if let credential = own(.apns, of: hub) {
                    let settings = try senders.settings(credential, of: hub.name)
                    return CredentialState(
                        hub: hub.name, settings, address: senders.destination(settings), tokenIssued: senders.tokenIssued(settings))
                }
                guard let files else { return nil }
                let settings = try files.current().settings
                return CredentialState(
                    hub: hub.name, setting: files.files.setting, settings, address: senders.destination(settings),
                    tokenIssued: senders.tokenIssued(settings), fault: files.fault)
            } catch {
                return CredentialState(hub: hub.name, setting: own(.apns, of: hub) == nil ? files?.files.setting : nil, error)
            }
        }
    }

    /// What a hub sends with, by platforms.
    func credentials(of hub: HubRecord) -> [HubCredential] {
        guard !isLab else { return [] }
        let others = HubCredential.own(of: hub).filter { $0.platform != .apns }
        return (credentialStates(of: [hub]).map(\.credential) + others).sorted { $0.platform < $1.platform }
    }

    /// The broadcast channels of the app that a hub sends to. Throws `credential.invalid` and, where it sends to no APNs,
    /// `channel.refused` (409).
    func channels(of hub: HubRecord) async throws(PushError) -> APNsChannels {
        if let credential = own(.apns, of: hub) { return try senders.channels(try senders.settings(credential, of: hub.name)) }
        if !isLab, let files { return try senders.channels(try files.current().settings) }
        guard let simulators else {
            throw PushError(
                "channel.refused", "the hub \(hub.name) has no APNs credential", hint: "give it one, or apns.* in the settings", status: 409
            )
        }
        return try await simulators.channels()
    }
}
