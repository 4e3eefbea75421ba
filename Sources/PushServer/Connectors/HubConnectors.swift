import Delivery
import Logging
import PushLab
import PushModel
import Synchronization
import WebAPI

/// Creates the connectors of hubs: with the hub's own credentials, or those of the settings, or else to the simulators if there are any.
struct HubConnectors: Sendable {
    /// The simulators that hubs without credentials send to.
    struct Simulation: Sendable {
        /// Nil for none.
        var connectors: SimulatedConnectors?
        /// Whether all sends go to the lab, whatever credentials a hub has.
        var isLab = false
    }

    let transports: ServiceTransports
    let delivery: DeliverySettings
    let clock: any HubClock
    let random: any RandomSource
    let simulation: Simulation
    let senders: APNsSenders
    /// The credentials of the settings, for hubs without their own.
    var watched: [WatchedCredential] = []
    let log: Logger
    private let outages = WatchedConnector.Outages()
    private let known = ParsedCredentialCache()
    private var simulators: SimulatedConnectors? { simulation.connectors }
    private var isLab: Bool { simulation.isLab }

    func connectors(of hub: HubRecord) -> [any Connector] {
        let path: ConnectionPath = isLab ? .lab : simulators == nil ? .pushServices : .simulators
        return unwatched(hub).map { WatchedConnector(base: $0, hub: hub.name, outages: outages, log: log, path: path) }
    }

    private func unwatched(_ hub: HubRecord) -> [any Connector] {
        let credentials = hub.description.credentials
        if isLab, let kind = PlatformCredential.Kind.senders.map(\.kind).first(where: { credentials[$0]?.isEmpty == false }) {
            log.warning("hub \"\(hub.name)\" has credentials (\(kind.rawValue)), which are not used: it sends only to the lab")
        }
        return PlatformCredential.Kind.senders.compactMap { kind, platforms in
            if let credential = own(kind, of: hub) {
                return LazyConnector(platforms) { () throws(PushError) in
                    try connector(try known.settings(credential, kind, of: hub.name))
                }
            }
            if let watched = watched(kind) { return SettingsConnector(platforms, watched, connector) }
            return simulators?.connector(for: platforms)
        }
    }

    private func watched(_ kind: PlatformCredential.Kind) -> WatchedCredential? { watched.first { $0.source.kind == kind } }

    /// The hub's own credential; nil if it has none or it is not used.
    private func own(_ kind: PlatformCredential.Kind, of hub: HubRecord) -> PlatformCredential? {
        guard !isLab, let credential = hub.description.credentials[kind], !credential.isEmpty else { return nil }
        return credential
    }

    /// Creates the connector for these credentials. Throws `credential.invalid`.
    @Sendable func connector(_ settings: SenderSettings) throws(PushError) -> any Connector {
        switch settings {
        case .apns(let settings): return try senders.connector(settings)
        case .fcm(let settings):
            return try FCMConnector(settings: settings, transport: transports.fcm, grants: transports.grants, clock: clock)
        case .wns(var settings):
            settings.channelHosts += delivery.wns.allowedHosts
            return try WNSConnector(settings: settings, transport: transports.wns, width: ServiceTransports.width, clock: clock)
        case .webPush(var settings):
            settings.allowedOrigins += delivery.webPush.allowedHosts
            settings.allowsPrivate = transports.allowsPrivate
            return try WebPushConnector(settings: settings, transport: transports.webPush, clock: clock, random: random)
        }
    }
}

// MARK: - Credential states

extension HubConnectors {
    /// The states of all credentials that these hubs send with. Reads credentials that have not been read yet.
    func credentialStates(of hubs: [HubRecord]) -> [CredentialState] {
        hubs.flatMap { hub in PlatformCredential.Kind.senders.compactMap { state($0.kind, of: hub) } }
    }

    /// The state of the credential for one push service; nil if the hub has none for it.
    func state(_ kind: PlatformCredential.Kind, of hub: HubRecord) -> CredentialState? {
        guard let platform = kind.platform else { return nil }
        let watched = own(kind, of: hub) == nil ? watched(kind) : nil
        let setting = watched?.source.setting
        do throws(PushError) {
            guard let settings = try settings(kind, of: hub) else { return nil }
            var issued: Timestamp?
            if case .apns(let settings) = settings { issued = senders.tokenIssued(settings) }
            return CredentialState(
                hub: hub.name, setting: setting, settings, address: destination(settings), tokenIssued: issued, fault: watched?.fault)
        } catch {
            return CredentialState(hub: hub.name, platform, setting: setting, error)
        }
    }

    /// The credentials that a hub sends with; nil if it has none for this service. Throws `credential.invalid`.
    func settings(_ kind: PlatformCredential.Kind, of hub: HubRecord) throws(PushError) -> SenderSettings? {
        if let credential = own(kind, of: hub) { return try known.settings(credential, kind, of: hub.name) }
        return try watched(kind)?.current().settings
    }

    /// The host that pushes go to; nil if each device's handle names it.
    private func destination(_ settings: SenderSettings) -> String? {
        switch settings {
        case .apns(let settings): senders.destination(settings)
        case .fcm: transports.grants.destination(of: FCMSettings.host)
        case .wns, .webPush: nil
        }
    }

    /// The hub's credentials by platform, as its managers see them.
    func credentials(of hub: HubRecord) -> [HubCredential] {
        let shown = credentialStates(of: [hub]).map(\.shown)
        // Credentials of unsupported platforms are stored and returned for Azure's clients.
        let others = isLab ? [] : HubCredential.own(of: hub).filter { own in !shown.contains { $0.platform == own.platform } }
        return (shown + others).sorted { $0.platform < $1.platform }
    }

    /// The functions that the management interfaces need.
    var services: CredentialServices {
        CredentialServices(
            credentials: { credentials(of: $0) },
            read: { platform, body throws(PushError) in try CredentialRequest(platform, body).credential() },
            check: { await CredentialChecker(self).checks(of: $0) })
    }

    /// The broadcast channels of the hub's app. Throws `credential.invalid`, and `channel.refused` (409) if the hub has no APNs credential.
    func channels(of hub: HubRecord) async throws(PushError) -> APNsChannels {
        if case .apns(let settings)? = try settings(.apns, of: hub) { return try senders.channels(settings) }
        guard let simulators else {
            throw PushError(
                "channel.refused", "hub \"\(hub.name)\" has no APNs credential", hint: "add one to the hub, or set apns.*", status: 409
            )
        }
        return try await simulators.channels()
    }
}

/// Caches the parsed credentials of hubs, because parsing a certificate is slow.
private final class ParsedCredentialCache: Sendable {
    private struct ConnectorKey: Hashable {
        let hub: String
        let kind: PlatformCredential.Kind
    }

    private let all = Mutex<[ConnectorKey: (credential: PlatformCredential, result: Result<SenderSettings, PushError>)]>([:])

    /// Returns the parsed credential. Throws `credential.invalid`.
    func settings(
        _ credential: PlatformCredential, _ kind: PlatformCredential.Kind, of hub: String
    ) throws(PushError) -> SenderSettings {
        let connectorKey = ConnectorKey(hub: hub, kind: kind)
        if let known = all.withLock({ $0[connectorKey] }), known.credential == credential { return try known.result.get() }
        let result = Result { () throws(PushError) in try StoredCredential(credential).settings(kind) }
        all.withLock { $0[connectorKey] = (credential, result) }
        return try result.get()
    }
}
