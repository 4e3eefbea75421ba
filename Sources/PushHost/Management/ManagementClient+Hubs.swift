import HubWire
import PushCore
import WebAPI

extension ManagementClient {
    /// The hub that is meant: the one that is named, else that of the connection string, else the only one there is.
    ///
    /// Throws `usage.hub` where there are several, or none.
    func hub(_ name: String?) async throws(PushError) -> String {
        if let name { return name }
        if let hub = target.hub { return hub }
        let names = try await hubs().compactMap { $0["name"]?.string }
        guard names.count == 1 else {
            throw PushError(
                "usage.hub",
                names.isEmpty ? "there is no hub" : "there are \(names.count) hubs: \(names.prefix(8).joined(separator: ", "))",
                hint: names.isEmpty ? "make one with pushhost hub create NAME" : "name one of them with --hub")
        }
        return names[0]
    }

    /// All hubs, or that of the connection string.
    func hubs() async throws(PushError) -> [JSON] {
        if let hub = target.hub { return [try await get(Self.path("hubs", hub))] }
        do throws(PushError) {
            return try await allItems(Self.path("hubs"))
        } catch {
            guard case .network = target, error.status == 401 || error.status == 403 else { throw error }
            // A hub's own keys open that hub alone.
            throw PushError(
                error.code, "the key does not open the list of hubs: \(error.message)",
                hint: "for the key of a hub say --hub NAME, or write ;EntityPath=NAME behind the connection string",
                status: error.status, details: error.details)
        }
    }

    /// Of the server, for connection strings; nil where that is not known.
    func clientURL() async -> String? {
        switch target {
        case .network(let connection, _): connection.address
        case .folder: try? await get(Self.path("server"))["clientURL"]?.string
        }
    }
}

extension ServerSettings {
    /// What clients are told to connect to, with TLS where the server has it; nil where no port is known.
    func clientURL(_ ports: ListeningPorts) -> String? {
        publicURL ?? ports.tls.map { "https://\(clientName):\($0)" } ?? ports.http.map { "http://\(clientName):\($0)" }
    }

    /// The name of this machine for clients, without a port. Where every address is listened on, it is known only if it was given
    /// for the certificate; localhost is true at least here.
    var clientName: String {
        if ["0.0.0.0", "::"].contains(host) { return certificateNames.first ?? "localhost" }
        return IPAddress(host).map(\.isLoopback) == true ? "localhost" : host
    }
}
