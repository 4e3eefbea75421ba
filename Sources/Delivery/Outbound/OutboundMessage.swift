import HTTPTypes
import NIOHTTP1
import PushModel

/// A checked request to one server. A redirect turns it into another one.
struct OutboundMessage: Sendable {
    /// Maximum size of a URL, in bytes; servers accept little more.
    static let maximumURL = 8192
    /// Maximum total size of all headers, in bytes.
    static let maximumHeaders = 32_768
    /// Headers that frame the message or control the connection. Only the client sets them.
    private static let ownHeaders: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "http2-settings", "te", "trailer", "expect",
    ]
    /// Headers that are sent along to another origin. Any other header may be a credential, whatever its name.
    private static let commonHeaders: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding", "content-language",
        "content-type", "user-agent",
    ]

    let method: String
    let address: WebAddress
    let headers: [PushHeader]
    let body: [UInt8]

    private init(method: String, address: WebAddress, headers: [PushHeader], body: [UInt8]) {
        (self.method, self.address, self.headers, self.body) = (method, address, headers, body)
    }

    /// Throws `http.method`, `http.invalid_url`, `http.invalid_header` and `http.too_large`.
    init(_ request: OutboundRequest) throws(PushError) {
        guard OutboundRequest.methods.contains(request.method) else {
            throw PushError(
                "http.method", "the method of an HTTP request is not supported",
                hint: "use one of \(OutboundRequest.methods.joined(separator: ", ")), in capitals")
        }
        guard request.body.isEmpty || !["GET", "HEAD"].contains(request.method) else {
            throw PushError("http.method", "a \(request.method) request cannot have a body", hint: "omit the body, or use POST")
        }
        // The URL is not shown: the invalid part may be a password in front of the host.
        guard request.url.utf8.count <= Self.maximumURL, let address = WebAddress(request.url), address.hasHostName else {
            throw PushError(
                "http.invalid_url", "the URL of an HTTP request is not absolute, or is ambiguous",
                hint: "use http or https, a host name or an IPv4 address of four decimal numbers, and %-escapes for non-ASCII characters; "
                    + "at most \(Self.maximumURL) bytes, without user and password")
        }
        (method, self.address, headers, body) = (request.method, address, request.headers, request.body)
        for (index, header) in headers.enumerated() { try Self.check(header, number: index + 1) }
        guard headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.maximumHeaders else {
            throw PushError(
                "http.invalid_header", "the headers of a request have more than \(Self.maximumHeaders) bytes",
                hint: "send long values in the body")
        }
        guard body.count <= OutboundRequest.maximumBody else {
            throw .outboundTooLarge(endpoint, "the body of the request", limit: OutboundRequest.maximumBody)
        }
    }

    private static func check(_ header: PushHeader, number: Int) throws(PushError) {
        guard HTTPField.Name(header.name) != nil else {
            throw PushError(
                "http.invalid_header", "the name of header \(number) of a request is invalid",
                hint: "use ASCII letters, digits and hyphens")
        }
        let name = header.name.lowercased()
        guard !ownHeaders.contains(name), !name.hasPrefix("proxy-") else {
            throw PushError("http.invalid_header", "the header \(name) is set by the client", hint: "omit it")
        }
        guard HTTPField.isValidValue(header.value) else {
            throw PushError(
                "http.invalid_header", "the value of the header \(name) contains an invalid character, or starts or ends with a space",
                hint: "remove line breaks, control characters, and leading and trailing spaces")
        }
    }

    // MARK: - Target

    var usualPort: Int { address.scheme == "https" ? 443 : 80 }
    var port: Int { address.port ?? usualPort }
    private var authority: String { port == usualPort ? address.host : address.authority }
    var url: String { "\(address.scheme)://\(authority)\(address.path)" }

    /// Host, port and path, for errors. The query is omitted because it may contain a secret.
    var endpoint: String { "\(address.host):\(port)\(address.path.prefix { $0 != "?" })".excerpt }

    var head: HTTPRequestHead {
        var fields = HTTPHeaders([("Host", authority)])
        for header in headers { fields.add(name: header.name, value: header.value) }
        if !fields.contains(name: "User-Agent") { fields.add(name: "User-Agent", value: "PushHost") }
        // RFC 9110, section 8.6: also for an empty body, if the method allows one.
        if !body.isEmpty || ["POST", "PUT", "PATCH"].contains(method) { fields.add(name: "Content-Length", value: "\(body.count)") }
        fields.add(name: "Connection", value: "close")
        return HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: method), uri: address.path, headers: fields)
    }

    // MARK: - Redirects

    /// Whether to follow the `Location` of a response with this status. Other 3xx statuses need a person's choice, or have nothing to
    /// fetch.
    static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

    /// Returns the request that a redirect asks for (RFC 9110, section 15.4). Throws `http.redirects`.
    func redirected(_ status: Int, to location: String) throws(PushError) -> OutboundMessage {
        guard location.utf8.count <= Self.maximumURL, let target = URIReference(location).resolved(against: address), target.hasHostName
        else {
            throw .outboundRedirect(endpoint, "it redirects to an invalid address", hint: "report this to the server's operator")
        }
        guard address.scheme == "http" || target.scheme == "https" else {
            throw .outboundRedirect(
                endpoint, "it redirects from https to http, which is not encrypted", hint: "report this to the server's operator")
        }
        var (method, headers, body) = (method, headers, body)
        if status == 303 && method != "HEAD" || [301, 302].contains(status) && method == "POST" {
            (method, body) = ("GET", [])
            headers.removeAll { $0.name.lowercased().hasPrefix("content-") }
        }
        if target.origin != address.origin { headers.removeAll { !Self.commonHeaders.contains($0.name.lowercased()) } }
        return OutboundMessage(method: method, address: target, headers: headers, body: body)
    }
}

extension WebAddress {
    fileprivate var hasHostName: Bool { OutboundHost.name(host) != nil }
}
