import NIOHTTP1

/// What another machine is asked.
package struct RemoteRequest: Sendable {
    package var method: HTTPMethod
    /// With scheme and query, encoded.
    package var url: String
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// Whether it may be made again without harm.
    package var isRepeatable: Bool
    /// Whether the caller's next call is another request: made again by the caller, it is done twice.
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

    /// For messages: without the query, which may name a device.
    var place: String { "\(method.rawValue) \(url.prefix { $0 != "?" })" }
}

/// What came back.
package struct RemoteAnswer: Sendable {
    package var status: Int
    package var headers: HTTPHeaders
    package var body: [UInt8]

    package init(status: Int, headers: HTTPHeaders, body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The host that a redirect names, without a name and a password; nil where it names none.
    package var redirect: String? {
        guard let location = headers.first(name: "Location"), location.lowercased().hasPrefix("http") else { return nil }
        return RemoteRequest(.GET, location).host.split(separator: "@").last.map(String.init)
    }

    /// Of the address in `Location`, without its query; nil where there is none.
    package var lastPartOfLocation: String? {
        headers.first(name: "Location")?.prefix { $0 != "?" }.split(separator: "/").last.map(String.init)
    }
}
