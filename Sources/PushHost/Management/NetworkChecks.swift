import AsyncHTTPClient
import Delivery
import Glibc
import NIOCore
import NIOHTTP1
import NIOSSL
import PushCore
import RemoteHub
import WebAPI

/// What can be reached: the server itself, and what it sends to.
struct NetworkChecks {
    let settings: ServerSettings

    private static let patience = Duration.seconds(5)

    /// The ports of a server that runs answer; those of one that does not are free.
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
                checks.append(.wrong(name, "\(scheme), nobody answers", "the server may have been started with another port"))
            case (.status, true), (.other, true):
                checks.append(.wrong(name, "\(scheme), something answers that is not the server", "look who has the port: ss -ltnp"))
            case (.status, false), (.other, false):
                checks.append(.wrong(name, "\(scheme), another program has it", "end that, or choose another port; see listen.*"))
            }
        }
        return checks
    }

    /// Where a server that runs listens: it may have been told so on its command line.
    private func listening() async -> ListeningPorts? {
        let server = try? await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
            try await client.get(ManagementClient.path("server"), patience: Self.patience)
        }
        return server.map { ListeningPorts(http: $0["httpPort"]?.int, tls: $0["tlsPort"]?.int) }
    }

    /// Over the socket, as commands reach it.
    func server() async -> Check {
        do throws(PushError) {
            return try await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
                _ = try await client.exchange(.GET, "/health/ready", patience: Self.patience)
                return .well("server", "it answers, and can keep what it is sent")
            }
        } catch {
            let isThere = error.code == "control.refused"
            return .wrong(
                "server", isThere ? "it is not ready" : error.message, isThere ? "its log says why" : error.hint)
        }
    }

    /// Those that hubs have credentials for, their own as far as a server that runs can tell, or that of the settings; and simulators
    /// that the settings name.
    func pushServices(isRunning: Bool) async -> [Check] {
        var checks: [Check] = []
        if let simulators = settings.simulators {
            let isThere = await ask("\(simulators)/health/live").isStatus(200)
            checks.append(
                isThere
                    ? .well("simulators", "\(simulators) answers")
                    : .wrong("simulators", "\(simulators) does not answer", "start pushhost simulate there"))
        }
        guard !settings.isLab else { return checks }
        for way in isRunning ? await waysOfHubs() : waysOfSettings() {
            checks.append(
                await isReached(way.address)
                    ? .well(way.name, "\(way.address) is reached") : .wrong(way.name, "\(way.address) is not reached", hint(way)))
        }
        return checks
    }

    /// A push service, and where it is spoken to.
    private struct Way: Hashable {
        var platform: Platform
        var address: String

        var name: String { platform.displayName }
    }

    private func waysOfHubs() async -> [Way] {
        let hubs = try? await ManagementClient.with(.folder(settings.data)) { client throws(PushError) in
            try await client.allItems(ManagementClient.path("hubs"), patience: Self.patience)
        }
        let ways = (hubs ?? []).flatMap { hub in
            (hub["credentials"]?.array ?? []).flatMap { credential -> [Way] in
                guard let platform = credential["platform"]?.string.flatMap({ Platform(shortName: $0) }) else { return [] }
                let address = credential["address"]?.string.map { ["https://\($0)"] }
                return (address ?? addresses(of: platform)).map { Way(platform: platform, address: $0) }
            }
        }
        return Set(ways).sorted { ($0.platform, $0.address) < ($1.platform, $1.address) }
    }

    /// Without a server nobody knows what its hubs have.
    private func waysOfSettings() -> [Way] {
        settings.credentialSources.flatMap { source -> [Way] in
            guard let platform = source.kind.platform else { return [] }
            guard platform == .apns else { return addresses(of: platform).map { Way(platform: platform, address: $0) } }
            let environment = (try? settings.apns.settings())?.environment ?? settings.apns.environment ?? .production
            return [Way(platform: .apns, address: "https://\(settings.delivery.destination(environment))")]
        }
    }

    private func hint(_ way: Way) -> String {
        if way.platform == .apns, settings.delivery.apns != nil {
            return "look whether something listens at apns.address, or take that away to send to Apple"
        }
        if way.platform == .browser, settings.delivery.webPush.places.contains(way.address) {
            return "look whether something listens there, or take it out of webpush.origins"
        }
        if let setting = set(way.platform)?.setting {
            return "look whether something listens at \(setting), or take that away to send to the service itself"
        }
        return "let the server out to it, port \(WebAddress(way.address)?.port ?? 443)"
    }

    /// Where the settings lead a service whose address does not depend on the credential.
    private func set(_ platform: Platform) -> (setting: String, address: String)? {
        switch platform {
        case .fcmV1, .gcm: settings.delivery.fcm.address.map { ("fcm.address", $0) }
        case .wns: settings.delivery.wns.address.map { ("wns.address", $0) }
        default: nil
        }
    }

    /// Where a service is spoken to whose address does not depend on the credential. Who names push services for browsers has these.
    private func addresses(of platform: Platform) -> [String] {
        let origins = platform == .browser ? settings.delivery.webPush.places : []
        guard origins.isEmpty else { return origins }
        return (set(platform)?.address ?? Self.services[platform]).map { [$0] } ?? []
    }

    /// Those of the makers.
    private static let services: [Platform: String] = [
        .fcmV1: "https://fcm.googleapis.com", .wns: "https://login.live.com", .browser: "https://updates.push.services.mozilla.com",
    ]

    /// Whether somebody speaks HTTP there, whatever he says.
    func isReached(_ address: String) async -> Bool {
        switch await ask(address) {
        case .status, .other(isSpoken: true): true
        case .refused, .other: false
        }
    }

    private enum Answer {
        case status(Int)
        /// Nobody listens.
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
        let patience = TimeAmount(Self.patience)
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: patience, read: patience))
        configuration.connectionPool.retryConnectionEstablishment = false
        // Only whether somebody is there is asked; what certificate it has is looked at elsewhere.
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        configuration.tlsConfiguration = tls
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let answer: Answer
        do {
            answer = .status(Int(try await client.execute(HTTPClientRequest(url: address), timeout: patience).status.code))
        } catch {
            let failure = ConnectionFailure(error)
            answer = failure == .refused ? .refused : .other(isSpoken: failure == .broken)
        }
        try? await client.shutdown()
        return answer
    }
}
