package import HubWire
package import PushModel

/// The address of a hub on another machine, with the key for it.
package struct HubAddress: Sendable {
    /// `https://ns.servicebus.windows.net`, with the port if given, without a trailing slash.
    package let base: String
    package let host: String
    package let hub: String
    private let connection: ConnectionString

    /// Lifetime of a signature, which must exceed the difference between the two clocks.
    private static let tokenLifetime: Duration = .seconds(3600)

    /// - Parameter hub: nil: the hub named in the connection string.
    /// Throws `usage.hub` if neither is given.
    package init(_ connection: ConnectionString, hub: String?) throws(PushError) {
        guard let hub = hub ?? connection.hub else {
            throw PushError(
                "usage.hub", "the connection string for \(connection.host) does not name a hub", hint: "name it with --hub", status: 400)
        }
        base = connection.address
        host = connection.host
        self.hub = hub
        self.connection = connection
    }

    /// Whether it is Microsoft's own service, in any of its clouds.
    package var isAzure: Bool {
        let name = host.prefix { $0 != ":" }.lowercased()
        return ["servicebus.windows.net", "servicebus.chinacloudapi.cn", "servicebus.usgovcloudapi.net"].contains {
            name.hasSuffix(".\($0)")
        }
    }

    /// The URL of `/{hub}/…`, with the API version.
    func url(_ subpath: String, _ query: String = "") -> String {
        let path = hub.split(separator: "/").map { PercentEncoding.encode($0) }.joined(separator: "/")
        return "\(base)/\(path)/\(subpath)?api-version=2020-06\(query)"
    }

    /// The value of `Authorization` for everything below the hub.
    func token(now: Timestamp) -> String { token(for: "\(base)/\(hub)", now: now) }

    /// The value of `Authorization` for a PushHost's JSON API, which is not below the hub.
    func serverToken(now: Timestamp) -> String { token(for: base, now: now) }

    private func token(for resource: String, now: Timestamp) -> String {
        SASToken(minting: resource, connection: connection, expiration: now + Self.tokenLifetime).header
    }
}
