import HubWire
import PushCore

/// A server whose data folder is ours to read: its keys need not be told.
struct LocalServer: Sendable {
    /// Nil without a lab.
    let labKey: Secret?
    /// Full keys, by the names of the hubs.
    private let keys: [(hub: String, key: ConnectionString)]

    /// The server at this address, where it is the one of the data folder in the settings; nil for any other.
    static func at(_ url: String, _ config: String?) async throws(PushError) -> LocalServer? {
        guard let port = port(url), let folder = try? SettingsSource(path: config).read().settings.data else { return nil }
        do throws(PushError) {
            return try await ManagementClient.with(.folder(folder)) { client throws(PushError) in
                let server = try await client.get(ManagementClient.path("server"), patience: patience)
                guard [server["httpPort"]?.int, server["tlsPort"]?.int].contains(port) else { return nil }
                return try await LocalServer(server, client, url)
            }
        } catch {
            // Nobody there, or not for us to ask.
            return nil
        }
    }

    private static let patience: Duration = .seconds(5)

    private init(_ server: JSON, _ client: ManagementClient, _ url: String) async throws(PushError) {
        labKey = server["labKey"]?.string.map(Secret.init)
        var keys: [(hub: String, key: ConnectionString)] = []
        for hub in try await client.allItems(ManagementClient.path("hubs"), patience: Self.patience) {
            guard let name = hub["name"]?.string else { continue }
            let rules = try await client.allItems(
                ManagementClient.path("hubs", name, "keys"), [("reveal", "true")], patience: Self.patience)
            guard let rule = rules.first(where: { $0["rights"]?.array?.contains("Manage") == true }),
                let keyName = rule["name"]?.string, let key = rule["primaryKey"]?.string
            else { continue }
            let endpoint = url.replacing(/^https:/.ignoresCase(), with: "sb:")
            keys.append(
                (
                    name,
                    try ConnectionString(
                        parsing: "Endpoint=\(endpoint)/;SharedAccessKeyName=\(keyName);SharedAccessKey=\(key);EntityPath=\(name)")
                ))
        }
        self.keys = keys
    }

    /// Of a hub, or for nil of the only one.
    func connection(_ hub: String?) -> ConnectionString? {
        guard let hub else { return keys.count == 1 ? keys[0].key : nil }
        return keys.first { $0.hub == hub }?.key
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
