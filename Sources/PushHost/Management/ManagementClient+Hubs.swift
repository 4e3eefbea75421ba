import HubWire
import PushModel
import PushServer
import WebAPI

extension ManagementClient {
    /// The hub to work with: the named one, or that of the connection string, or the only one.
    ///
    /// Throws `usage.hub` if there are several or none.
    func hub(_ name: String?) async throws(PushError) -> String {
        if let name { return name }
        if let hub = target.hub { return hub }
        let names = try await hubs().compactMap { $0["name"]?.string }
        guard names.count == 1 else {
            throw PushError(
                "usage.hub",
                names.isEmpty ? "the server has no hubs" : "the server has \(names.count) hubs: \(names.prefix(8).joined(separator: ", "))",
                hint: names.isEmpty ? "create one with pushhost hub create NAME" : "choose one with --hub")
        }
        return names[0]
    }

    /// All hubs, or only the hub of the connection string.
    func hubs() async throws(PushError) -> [JSON] {
        if let hub = target.hub { return [try await get(Self.path("hubs", hub))] }
        do throws(PushError) {
            return try await allItems(Self.path("hubs"))
        } catch {
            guard case .network = target, error.status == 401 || error.status == 403 else { throw error }
            // A hub's keys cannot list the other hubs.
            throw PushError(
                error.code, "the key does not allow listing hubs: \(error.message)",
                hint: "with the key of a hub, pass --hub NAME, or append ;EntityPath=NAME to the connection string",
                status: error.status, details: error.details)
        }
    }

    /// The server's URL for connection strings; nil if it is not known.
    func clientURL() async -> String? {
        switch target {
        case .network(let connection, _): connection.address
        case .folder: try? await get(Self.path("server"))["clientURL"]?.string
        }
    }
}
