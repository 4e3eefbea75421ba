/// The actual ports that a server listens on; nil for none.
package struct ListeningPorts: Sendable, Equatable {
    package var http: Int?
    package var tls: Int?

    package init(http: Int? = nil, tls: Int? = nil) {
        self.http = http
        self.tls = tls
    }
}

extension ServerSettings {
    /// The URL that clients connect to, with TLS if the server has a TLS port; nil if no port is known.
    package func clientURL(_ ports: ListeningPorts) -> String? {
        publicURL ?? ports.tls.map { "https://\(clientName):\($0)" } ?? ports.http.map { "http://\(clientName):\($0)" }
    }

    /// The host name of this machine for clients, without a port. If the server listens on all addresses, this is the first name given for
    /// the certificate, or localhost, which works on this machine only.
    package var clientName: String {
        if ["0.0.0.0", "::"].contains(host) { return certificateNames.first ?? "localhost" }
        return IPAddress(host).map(\.isLoopback) == true ? "localhost" : host
    }
}
