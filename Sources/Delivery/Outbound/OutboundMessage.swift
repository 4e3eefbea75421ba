import HTTPTypes
import NIOHTTP1
import PushCore

/// A request that keeps the rules, to one server. A redirect makes another one of it.
struct OutboundMessage: Sendable {
    /// Bytes of a URL; servers take little more.
    static let maximumURL = 8192
    /// Bytes of all headers.
    static let maximumHeaders = 32_768
    /// What says where a message begins and ends, and what becomes of the connection: nobody's to say but the client's.
    private static let ownHeaders: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "http2-settings", "te", "trailer", "expect",
    ]
    /// What another server may know too. Of anything else it is not known whether it is a credential, whatever its name.
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
                "http.method", "the method of an HTTP request is not one of those that are sent",
                hint: "it is one of \(OutboundRequest.methods.joined(separator: ", ")), in capitals")
        }
        guard request.body.isEmpty || !["GET", "HEAD"].contains(request.method) else {
            throw PushError("http.method", "\(request.method) has no body", hint: "leave out the body, or use POST")
        }
        // The text is not shown: what is wrong with it may be a password in front of the host.
        guard request.url.utf8.count <= Self.maximumURL, let address = WebAddress(request.url), address.hasHostName else {
            throw PushError(
                "http.invalid_url", "the URL of an HTTP request is not an absolute one that every program reads in the same way",
                hint: "write http or https, a host name or an IPv4 address of four decimal numbers, and what is not ASCII as %-escapes; "
                    + "at most \(Self.maximumURL) bytes, without user and password")
        }
        (method, self.address, headers, body) = (request.method, address, request.headers, request.body)
        for (index, header) in headers.enumerated() { try Self.check(header, number: index + 1) }
        guard headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.maximumHeaders else {
            throw PushError(
                "http.invalid_header", "the headers of a request have more than \(Self.maximumHeaders) bytes",
                hint: "send what is long as the body")
        }
        guard body.count <= OutboundRequest.maximumBody else {
            throw .outboundTooLarge(place, "the body of the request", limit: OutboundRequest.maximumBody)
        }
    }

    private static func check(_ header: PushHeader, number: Int) throws(PushError) {
        guard HTTPField.Name(header.name) != nil else {
            throw PushError(
                "http.invalid_header", "the name of header \(number) of a request is none",
                hint: "it has ASCII letters, digits and hyphens")
        }
        let name = header.name.lowercased()
        guard !ownHeaders.contains(name), !name.hasPrefix("proxy-") else {
            throw PushError("http.invalid_header", "the header \(name) is the client's own", hint: "leave it out")
        }
        guard HTTPField.isValidValue(header.value) else {
            throw PushError(
                "http.invalid_header", "the value of the header \(name) has a character that no header has, or a blank at an end",
                hint: "leave out line breaks and control characters")
        }
    }

    // MARK: - Where it goes

    var usualPort: Int { address.scheme == "https" ? 443 : 80 }
    var port: Int { address.port ?? usualPort }
    private var authority: String { port == usualPort ? address.host : address.authority }
    var url: String { "\(address.scheme)://\(authority)\(address.path)" }

    /// For errors: host, port and path. A query may have a secret.
    var place: String { "\(address.host):\(port)\(address.path.prefix { $0 != "?" })".excerpt }

    var head: HTTPRequestHead {
        var fields = HTTPHeaders([("Host", authority)])
        for header in headers { fields.add(name: header.name, value: header.value) }
        if !fields.contains(name: "User-Agent") { fields.add(name: "User-Agent", value: "PushHost") }
        // RFC 9110, section 8.6: also of an empty body, where the method has one.
        if !body.isEmpty || ["POST", "PUT", "PATCH"].contains(method) { fields.add(name: "Content-Length", value: "\(body.count)") }
        fields.add(name: "Connection", value: "close")
        return HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: method), uri: address.path, headers: fields)
    }

    // MARK: - Redirects

    /// Whether an answer with this status and a `Location` leads elsewhere; of others a person chooses, or there is nothing to fetch.
    static func isRedirect(_ status: Int) -> Bool { [301, 302, 303, 307, 308].contains(status) }

    /// The request that a redirect asks for (RFC 9110, section 15.4). Throws `http.redirects`.
    func redirected(_ status: Int, to location: String) throws(PushError) -> OutboundMessage {
        guard location.utf8.count <= Self.maximumURL, let target = address.resolving(location), target.hasHostName else {
            throw .outboundRedirect(place, "the address that it redirects to is none", hint: "tell the server's operator")
        }
        guard address.scheme == "http" || target.scheme == "https" else {
            throw .outboundRedirect(
                place, "it redirects from https to http, where everybody can read along", hint: "tell the server's operator")
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
