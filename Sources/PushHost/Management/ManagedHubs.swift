import HubWire
import PushModel
import PushServer
import WebAPI

/// The hubs of a server, as far as the client's key allows.
struct ManagedHubs {
    let client: ManagementClient

    /// The hub to work with: the named one, or that of the connection string, or the only one.
    ///
    /// Throws `usage.hub` if there are several or none.
    func name(_ name: String?) async throws(PushError) -> String {
        if let name { return name }
        if let hub = client.target.hub { return hub }
        let names = try await all().compactMap { $0["name"]?.string }
        guard names.count == 1 else {
            throw PushError(
                "usage.hub",
                names.isEmpty ? "the server has no hubs" : "the server has \(names.count) hubs: \(names.prefix(8).joined(separator: ", "))",
                hint: names.isEmpty ? "create one with pushhost hub create NAME" : "choose one with --hub")
        }
        return names[0]
    }

    /// All hubs, or only the hub of the connection string.
    func all() async throws(PushError) -> [JSON] {
        if let hub = client.target.hub { return [try await client.get(ManagementClient.path("hubs", hub))] }
        do throws(PushError) {
            return try await client.allItems(ManagementClient.path("hubs"))
        } catch {
            guard case .network = client.target, error.status == 401 || error.status == 403 else { throw error }
            // A hub's keys cannot list the other hubs, and the server does not know them without the name of the hub.
            throw PushError(
                error.code, error.message,
                hint:
                    "for the key of a hub, pass --hub NAME, or append ;EntityPath=NAME to the connection string; otherwise \(error.hint ?? "use another key")",
                status: error.status, details: error.details)
        }
    }
}
