import PushCore
import WebAPI

extension ManagementClient {
    /// The hub that is meant: the one that is named, else that of the connection string, else the only one there is.
    ///
    /// Throws `usage.hub` where there are several, or none.
    func hub(_ name: String?) async throws(PushError) -> String {
        if let name { return name }
        if case .network(let connection, _) = target, let hub = connection.hub { return hub }
        let names = try await items(Self.path("hubs"), first: nil).items.compactMap { $0["name"]?.string }
        guard names.count == 1 else {
            throw PushError(
                "usage.hub",
                names.isEmpty ? "there is no hub" : "there are \(names.count) hubs: \(names.prefix(8).joined(separator: ", "))",
                hint: names.isEmpty ? "make one with pushhost hub create NAME" : "name one of them with --hub")
        }
        return names[0]
    }

    /// Address and port for connection strings; nil where that is not known.
    func endpoint(_ settings: ServerSettings?) -> String? {
        switch target {
        case .network(let connection, _): connection.host
        case .folder: settings?.clientHost
        }
    }
}

extension ServerSettings {
    /// What clients are told to connect to; nil where the system chooses the port.
    var clientHost: String? {
        if let publicURL, let start = publicURL.firstRange(of: "://") {
            return String(publicURL[start.upperBound...].prefix { $0 != "/" })
        }
        guard let port = tlsPort ?? port, port > 0 else { return nil }
        return "\(clientName):\(port)"
    }

    /// The name of this machine for clients, without a port.
    var clientName: String { IPAddress(host).map(\.isLoopback) == true ? "localhost" : host }
}
