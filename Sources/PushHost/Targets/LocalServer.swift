import HubWire
import PushModel
import PushRuntime
import PushServer
import RemoteHub

/// A server on this machine whose data folder is readable. Its keys are read through the control socket.
struct LocalServer: Sendable {
    let url: String
    /// Path of the settings file that names the data folder; nil for the default one.
    let config: String?

    private static let timeout: Duration = .seconds(5)

    /// The key of the server's lab; nil if there is no lab or the server is not accessible.
    func labKey() async -> Secret? {
        await asking { server, _ in server["labKey"]?.string.map(Secret.init) }
    }

    /// A connection string with a key that has all rights to a hub; nil if the server is not accessible.
    ///
    /// - Parameter hub: the hub's name; nil if the server has only one.
    /// - Throws: `target.hub`, and `usage.hub` if there are several hubs.
    func connection(hub: String?) async throws(PushError) -> ConnectionString? {
        let names = await asking { _, client throws(PushError) in
            try await client.allItems(ManagementClient.path("hubs"), timeout: Self.timeout).compactMap { $0["name"]?.string }
        }
        guard let names else { return nil }
        guard let hub = hub ?? (names.count == 1 ? names[0] : nil) else {
            throw PushError(
                "usage.hub", "no hub chosen: the server has \(names.count) hubs",
                hint: names.isEmpty ? "create one with pushhost hub create" : "name one with --hub: \(names.joined(separator: ", "))",
                status: 400)
        }
        guard let name = names.first(where: { $0.lowercased() == hub.lowercased() }) else {
            throw RemoteNotificationHub.missing(hub, at: url, others: names)
        }
        return await asking { _, client throws(PushError) in try await connection(to: name, client) }
    }

    private func connection(to hub: String, _ client: ManagementClient) async throws(PushError) -> ConnectionString? {
        let rules = try await client.allItems(
            ManagementClient.path("hubs", hub, "keys"), [("reveal", "true")], timeout: Self.timeout)
        guard let rule = rules.first(where: { $0["rights"]?.array?.contains("Manage") == true }),
            let keyName = rule["name"]?.string, let key = rule["primaryKey"]?.string
        else { return nil }
        return ConnectionString(address: url, keyName: keyName, key: Secret(key), hub: hub)
    }

    /// Connects to the server of the data folder and runs `work` if it listens on the URL's port. Nil if it does not, or cannot be reached.
    private func asking<Value: Sendable>(
        _ work: (JSON, ManagementClient) async throws(PushError) -> Value?
    ) async -> Value? {
        guard let port = Self.port(url), let folder = dataFolder else { return nil }
        do throws(PushError) {
            return try await ManagementClient.with(.folder(folder)) { client throws(PushError) in
                let server = try await client.get(ManagementClient.path("server"), timeout: Self.timeout)
                guard [server["httpPort"]?.int, server["tlsPort"]?.int].contains(port) else { return nil }
                return try await work(server, client)
            }
        } catch {
            return nil
        }
    }

    /// The data folder in the settings; empty environment variables are ignored.
    private var dataFolder: String? {
        let variables = Environment.variables.filter { !$0.value.isEmpty }
        return try? ConfiguredSettings(file: SettingsSource(path: config).text(), environment: variables, flags: [:]).settings.data
    }

    /// The port of a loopback URL; nil for other hosts.
    private static func port(_ url: String) -> Int? {
        guard let match = url.wholeMatch(of: /(https?):\/\/(\[[^\]]+\]|[^:\/]+)(?::(\d+))?/.ignoresCase()) else { return nil }
        let host = match.2.trimmingBrackets
        guard host == "localhost" || IPAddress(String(host))?.isLoopback == true else { return nil }
        return match.3.flatMap { Int($0) } ?? (match.1.lowercased() == "https" ? 443 : 80)
    }
}

extension Substring {
    fileprivate var trimmingBrackets: Substring { hasPrefix("[") ? dropFirst().dropLast() : self }
}
