package import NIOHTTP1

/// A request to another machine.
package struct RemoteRequest: Sendable {
    package var method: HTTPMethod
    /// The encoded URL with scheme and query.
    package var url: String
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// Whether it can be repeated without harm.
    package var isRepeatable: Bool
    /// Whether a repeated call by the caller would be a new request that is executed a second time.
    package var isSingular: Bool

    package init(
        _ method: HTTPMethod, _ url: String, headers: HTTPHeaders = [:], body: [UInt8] = [], isRepeatable: Bool = true,
        isSingular: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.isRepeatable = isRepeatable
        self.isSingular = isSingular || !isRepeatable
    }

    /// The request for messages, without the query, which may contain a device.
    var target: String { "\(method.rawValue) \(url.prefix { $0 != "?" })" }

    /// The host with its port.
    var host: String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(rest.prefix { $0 != "/" && $0 != "?" })
    }
}

/// The response of another machine.
package struct RemoteAnswer: Sendable {
    package var status: Int
    package var headers: HTTPHeaders
    package var body: [UInt8]

    package init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The host in a redirect's `Location`, without user information; nil if there is none.
    package var redirect: String? {
        guard let location = headers.first(name: "Location"), location.lowercased().hasPrefix("http") else { return nil }
        return RemoteRequest(.GET, location).host.split(separator: "@").last.map(String.init)
    }

    /// The last path segment in `Location`; nil if there is none.
    package var lastPartOfLocation: String? {
        headers.first(name: "Location")?.prefix { $0 != "?" }.split(separator: "/").last.map(String.init)
    }
}
