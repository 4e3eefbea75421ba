import AsyncHTTPClient
import Delivery
import Glibc
import NIOCore
import NIOHTTP1
import NIOSSL
import PushModel
import PushServer
import RemoteHub
import WebAPI

/// Checks connections: to the server itself, and to the services that it sends to.
struct NetworkChecks {
    let settings: ServerSettings

    private static let timeout = Duration.seconds(5)

    /// Checks that a running server answers on its ports, or that the ports are free if none runs.
    func ports(isRunning: Bool) async -> [Check] {
        var checks: [Check] = []
        let running = isRunning ? await listening() : nil
        let ports = running ?? ListeningPorts(http: settings.port, tls: settings.tlsPort)
        for (port, scheme) in [(ports.http, "http"), (ports.tls, "https")] {
            guard let port, port > 0 else { continue }
            let name = "port \(port)"
            let answer = await ask("\(scheme)://\(host):\(port)/health/live")
            switch (answer, isRunning) {
            case (.status(200), true): checks.append(.well(name, "\(scheme), the server answers"))
            case (.refused, false): checks.append(.well(name, "\(scheme), free"))
            case (.refused, true):
                checks.append(.wrong(name, "\(scheme), no answer", "check whether the server was started with another port"))
            case (.status, true), (.other, true):
                checks.append(.wrong(name, "\(scheme), another program answers", "find it with ss -ltnp"))
            case (.status, false), (.other, false):
                checks.append(.wrong(name, "\(scheme), in use by another program", "stop it, or choose another port with listen.*"))
            }
        }
        return checks
    }

    /// The ports of a running server, which may come from its command line instead of the settings.
    private func listening() async -> ListeningPorts? {
        let server = try? await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
            try await client.get(ManagementClient.path("server"), timeout: Self.timeout)
        }
        return server.map { ListeningPorts(http: $0["httpPort"]?.int, tls: $0["tlsPort"]?.int) }
    }

    /// Checks the server over its control socket, as commands reach it.
    func server() async -> Check {
        do throws(PushError) {
            return try await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
                _ = try await client.exchange(.GET, "/health/ready", timeout: Self.timeout)
                return .well("server", "responding, storage is writable")
            }
        } catch {
            let isThere = error.code == "control.refused"
            return .wrong(
                "server", isThere ? "it is not ready" : error.message, isThere ? "see its log" : error.hint)
        }
    }

    /// Checks that push services are reached: those of the hubs' credentials if the server runs, otherwise those of the settings. Also
    /// checks simulators that the settings name.
    func pushServices(isRunning: Bool) async -> [Check] {
        var checks: [Check] = []
        if let simulators = settings.simulators {
            let isThere = await ask("\(simulators)/health/live").isStatus(200)
            checks.append(
                isThere
                    ? .well("simulators", "\(simulators) answers")
                    : .wrong("simulators", "\(simulators) does not respond", "start pushhost simulate there"))
        }
        guard !settings.isLab else { return checks }
        for service in isRunning ? await endpointsOfHubs() : endpointsOfSettings() {
            checks.append(
                await isReached(service.address)
                    ? .well(service.name, "\(service.address) is reachable")
                    : .wrong(service.name, "\(service.address) is not reachable", hint(service)))
        }
        return checks
    }

    /// A push service and its address.
    private struct CheckedService: Hashable {
        var platform: Platform
        var address: String

        var name: String { platform.displayName }
    }

    private func endpointsOfHubs() async -> [CheckedService] {
        let hubs = try? await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
            try await client.allItems(ManagementClient.path("hubs"), timeout: Self.timeout)
        }
        let ways = (hubs ?? []).flatMap { hub in
            (hub["credentials"]?.array ?? []).flatMap { credential -> [CheckedService] in
                guard let platform = credential["platform"]?.string.flatMap({ Platform(shortName: $0) }) else { return [] }
                let address = credential["address"]?.string.map { ["https://\($0)"] }
                return (address ?? addresses(of: platform)).map { CheckedService(platform: platform, address: $0) }
            }
        }
        return Set(ways).sorted { ($0.platform, $0.address) < ($1.platform, $1.address) }
    }

    /// Without a running server, the hubs' own credentials are not known.
    private func endpointsOfSettings() -> [CheckedService] {
        settings.credentialSources.flatMap { source -> [CheckedService] in
            guard let platform = source.kind.platform else { return [] }
            guard platform == .apns else { return addresses(of: platform).map { CheckedService(platform: platform, address: $0) } }
            let environment = (try? settings.apns.settings())?.environment ?? settings.apns.environment ?? .production
            return [CheckedService(platform: .apns, address: "https://\(settings.delivery.destination(environment))")]
        }
    }

    private func hint(_ service: CheckedService) -> String {
        if service.platform == .apns, settings.delivery.apns != nil {
            return "check what listens at apns.address, or remove that setting to send to Apple"
        }
        if service.platform == .browser, settings.delivery.webPush.allowedHosts.contains(service.address) {
            return "check what listens there, or remove it from webpush.origins"
        }
        if let setting = set(service.platform)?.setting {
            return "check what listens at \(setting), or remove that setting to send to the service itself"
        }
        return "allow outgoing connections to it, port \(WebAddress(service.address)?.port ?? 443)"
    }

    /// The address that the settings give for a service, if it does not depend on the credential.
    private func set(_ platform: Platform) -> (setting: String, address: String)? {
        switch platform {
        case .fcmV1, .gcm: settings.delivery.fcm.address.map { ("fcm.address", $0) }
        case .wns: settings.delivery.wns.address.map { ("wns.address", $0) }
        default: nil
        }
    }

    /// The addresses of a service, if they do not depend on the credential. The settings may list several for browsers.
    private func addresses(of platform: Platform) -> [String] {
        let origins = platform == .browser ? settings.delivery.webPush.allowedHosts : []
        guard origins.isEmpty else { return origins }
        return (set(platform)?.address ?? Self.services[platform]).map { [$0] } ?? []
    }

    /// The public addresses of the services.
    private static let services: [Platform: String] = [
        .fcmV1: "https://fcm.googleapis.com", .wns: "https://login.live.com", .browser: "https://updates.push.services.mozilla.com",
    ]

    /// Whether an HTTP server answers there, with any status.
    func isReached(_ address: String) async -> Bool {
        switch await ask(address) {
        case .status, .other(isSpoken: true): true
        case .refused, .other: false
        }
    }

    private enum Answer {
        case status(Int)
        /// The connection was refused.
        case refused
        case other(isSpoken: Bool)

        func isStatus(_ number: Int) -> Bool {
            if case .status(number) = self { true } else { false }
        }
    }

    private var host: String {
        switch settings.host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: settings.host.contains(":") ? "[\(settings.host)]" : settings.host
        }
    }

    private func ask(_ address: String) async -> Answer {
        let timeout = TimeAmount(Self.timeout)
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: timeout, read: timeout))
        configuration.connectionPool.retryConnectionEstablishment = false
        // Certificates are checked elsewhere; this only checks whether a server answers.
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        configuration.tlsConfiguration = tls
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let answer: Answer
        do {
            answer = .status(Int(try await client.execute(HTTPClientRequest(url: address), timeout: timeout).status.code))
        } catch {
            let failure = ConnectionFailure(error)
            answer = failure == .refused ? .refused : .other(isSpoken: failure == .broken)
        }
        try? await client.shutdown()
        return answer
    }
}
