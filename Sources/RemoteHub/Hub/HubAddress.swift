import HubWire
import PushCore

/// Where a hub of another machine is, and the key that opens it.
package struct HubAddress: Sendable {
    /// `https://ns.servicebus.windows.net`, with a port where there is one, without a slash at its end.
    package let base: String
    package let host: String
    package let hub: String
    private let connection: ConnectionString

    /// How long a signature is good for: longer than two clocks may be apart.
    private static let tokenLifetime: Duration = .seconds(3600)

    /// - Parameter hub: nil takes the one that the connection string names.
    /// Throws `usage.hub` where neither names one.
    package init(_ connection: ConnectionString, hub: String?) throws(PushError) {
        guard let hub = hub ?? connection.hub else {
            throw PushError(
                "usage.hub", "the connection string for \(connection.host) does not say which hub", hint: "name it with --hub", status: 400)
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

    /// `/{hub}/…`, with the interface's version.
    func url(_ place: String, _ query: String = "") -> String {
        let path = hub.split(separator: "/").map { PercentEncoding.encode($0) }.joined(separator: "/")
        return "\(base)/\(path)/\(place)?api-version=2020-06\(query)"
    }

    /// The value of `Authorization`, for everything below the hub.
    func token(now: Timestamp) -> String { token(for: "\(base)/\(hub)", now: now) }

    /// For the JSON interface of a PushHost, which lies beside its hubs.
    func serverToken(now: Timestamp) -> String { token(for: base, now: now) }

    private func token(for resource: String, now: Timestamp) -> String {
        SASToken(minting: resource, connection: connection, expiration: now + Self.tokenLifetime).header
    }
}
