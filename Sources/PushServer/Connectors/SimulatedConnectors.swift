import Delivery
import HTTPTypes
import PushModel

/// Creates connectors to `pushhost simulate`, with credentials fetched from it. It may be started later or restarted with new keys:
/// credentials are fetched at the first notification, and again after a service rejected them. APNs provider tokens are shared by all hubs
/// and stored, as for APNs itself.
struct SimulatedConnectors: Sendable {
    /// The simulators' authority, for example `127.0.0.1:8090`.
    let authority: String
    /// Sends every request to the simulators, whatever its host.
    let transport: any PushTransport
    let clock: any HubClock
    let random: any RandomSource
    let tokens: ProviderTokenCache

    func connector(for platforms: Set<Platform>) -> any Connector { SimulatedConnector(platforms, self) }

    fileprivate func make(for platforms: Set<Platform>) async throws(PushError) -> any Connector {
        let credentials = try await credentials()
        func text(_ service: String, _ name: String) throws(PushError) -> String { try self.text(credentials, service, name) }
        if platforms.contains(.apns) {
            let settings = try apns(credentials)
            return try APNsConnector(settings: settings, transport: transport, clock: clock, token: try tokens.token(for: settings))
        }
        if platforms.contains(.fcmV1) {
            return try FCMConnector(
                settings: FCMSettings(
                    projectID: try text("fcm", "project_id"), clientEmail: try text("fcm", "client_email"),
                    privateKeyID: try text("fcm", "private_key_id"), privateKey: Secret(try text("fcm", "private_key"))),
                transport: transport, clock: clock)
        }
        if platforms.contains(.wns) {
            // Channels of its phones may be on the simulator's own address.
            let hosts = credentials["wns"]?["channel_hosts"]?.array?.compactMap(\.string)
            return try WNSConnector(
                settings: WNSSettings(
                    packageSID: try text("wns", "package_sid"), clientSecret: Secret(try text("wns", "client_secret")),
                    channelHosts: hosts ?? WNSSettings.channelHosts),
                transport: transport, clock: clock)
        }
        let origin = credentials["browser"]?["origin"]?.string
        return try WebPushConnector(
            settings: WebPushSettings(
                subject: try text("browser", "subject"), publicKey: try text("browser", "public_key"),
                privateKey: Secret(try text("browser", "private_key")), allowedOrigins: origin.map { [$0] } ?? []),
            transport: transport, clock: clock, random: random)
    }

    /// The broadcast channels of the simulated app.
    func channels() async throws(PushError) -> APNsChannels {
        let settings = try apns(try await credentials())
        return try APNsChannels(
            settings: settings, transport: transport, clock: clock, random: random, token: try tokens.token(for: settings))
    }

    private func apns(_ credentials: JSON) throws(PushError) -> APNsSettings {
        APNsSettings(
            teamID: try text(credentials, "apns", "team_id"), keyID: try text(credentials, "apns", "key_id"),
            privateKey: Secret(try text(credentials, "apns", "private_key")), topic: try text(credentials, "apns", "topic"))
    }

    private func text(_ credentials: JSON, _ service: String, _ name: String) throws(PushError) -> String {
        guard let text = credentials[service]?[name]?.string else { throw unusable("its credentials have no \(service).\(name)") }
        return text
    }

    private func credentials() async throws(PushError) -> JSON {
        let request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/credentials")
        let response: PushResponse
        do {
            response = try await transport.exchange(request, body: [])
        } catch {
            throw unusable("they do not respond")
        }
        guard response.status == .ok, let json = try? JSON(parsing: response.body) else {
            throw unusable("they answer \(response.status.code) when asked for credentials")
        }
        return json
    }

    private func unusable(_ why: String) -> PushError {
        PushError(
            "simulators.unusable", "the simulators at \(authority) cannot be used: \(why)", hint: "start pushhost simulate there")
    }
}

private actor SimulatedConnector: Connector {
    nonisolated let platforms: Set<Platform>
    private let source: SimulatedConnectors
    private var connector: (any Connector)?

    init(_ platforms: Set<Platform>, _ source: SimulatedConnectors) {
        self.platforms = platforms
        self.source = source
    }

    func deliver(_ batch: DeliveryBatch) async -> [Verdict] {
        let connector: any Connector
        do throws(PushError) {
            connector = try await current()
        } catch {
            let rejection = Rejection(
                status: 0, reason: "Unreachable", explanation: "\(error.message); \(error.hint ?? "")", outcome: .pnsUnreachable)
            return batch.handles.map { _ in .transient(rejection, retryAfter: nil) }
        }
        let verdicts = await connector.deliver(batch)
        if verdicts.contains(where: \.refusesCredentials) { self.connector = nil }
        return verdicts
    }

    private func current() async throws(PushError) -> any Connector {
        if let connector { return connector }
        let made = try await source.make(for: platforms)
        connector = made
        return made
    }
}

extension Verdict {
    fileprivate var refusesCredentials: Bool {
        switch self {
        case .rejected(let rejection), .transient(let rejection, _): rejection.outcome == .invalidCredentials
        case .accepted, .unknown: false
        }
    }
}
