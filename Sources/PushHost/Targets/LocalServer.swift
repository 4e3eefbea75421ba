import HubWire
import PushCore

/// A server of this machine whose data folder is ours to read: its keys need not be told.
struct LocalServer: Sendable {
    let url: String
    /// Of the settings that name the data folder; nil for the usual ones.
    let config: String?

    private static let patience: Duration = .seconds(5)

    /// Nil without a lab, and where it is no such server.
    func labKey() async -> Secret? {
        await asking { server, _ in server["labKey"]?.string.map(Secret.init) }
    }

    /// With a key that has all rights to a hub; nil where it is no such server, or has no such hub.
    /// - Parameter hub: nil for the only one.
    func connection(hub: String?) async -> ConnectionString? {
        await asking { _, client throws(PushError) in
            guard let hub = try await name(of: hub, client) else { return nil }
            let rules = try await client.allItems(
                ManagementClient.path("hubs", hub, "keys"), [("reveal", "true")], patience: Self.patience)
            guard let rule = rules.first(where: { $0["rights"]?.array?.contains("Manage") == true }),
                let keyName = rule["name"]?.string, let key = rule["primaryKey"]?.string
            else { return nil }
            let endpoint = url.replacing(/^https:/.ignoresCase(), with: "sb:")
            return try ConnectionString(
                parsing: "Endpoint=\(endpoint)/;SharedAccessKeyName=\(keyName);SharedAccessKey=\(key);EntityPath=\(hub)")
        }
    }

    private func name(of hub: String?, _ client: ManagementClient) async throws(PushError) -> String? {
        if let hub { return hub }
        let hubs = try await client.allItems(ManagementClient.path("hubs"), patience: Self.patience)
        return hubs.count == 1 ? hubs[0]["name"]?.string : nil
    }

    /// What the server of the data folder says, where it is the one at the address; nil where nobody is there, or it is not for us
    /// to ask.
    private func asking<Value: Sendable>(
        _ work: (JSON, ManagementClient) async throws(PushError) -> Value?
    ) async -> Value? {
        guard let port = Self.port(url), let folder = try? SettingsSource(path: config).read().settings.data else { return nil }
        do throws(PushError) {
            return try await ManagementClient.with(.folder(folder)) { client throws(PushError) in
                let server = try await client.get(ManagementClient.path("server"), patience: Self.patience)
                guard [server["httpPort"]?.int, server["tlsPort"]?.int].contains(port) else { return nil }
                return try await work(server, client)
            }
        } catch {
            return nil
        }
    }

    /// Of an address on this machine; nil for another one.
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
