package import PushModel

/// Service and sender of a request. Only requests with the same origin may share connections: APNs accepts the tokens of one team and key
/// per connection, and a client certificate belongs to the connection.
package struct PushOrigin: Hashable, Sendable {
    /// The host as requests name it, with the port unless it is the scheme's default.
    package var authority: String
    /// Distinguishes credentials: team and key, or empty with a certificate.
    package var sender: String
    /// The client certificate of the TLS handshake.
    package var certificate: ClientCertificate?
    /// `https`, or `http` if the settings allow it.
    package var scheme: String

    package init(authority: String, sender: String = "", certificate: ClientCertificate? = nil, scheme: String = "https") {
        self.authority = authority
        self.sender = sender
        self.certificate = certificate
        self.scheme = scheme
    }

    /// The authority without the port.
    var host: String { String(authority.prefix { $0 != ":" }) }
    var port: Int {
        authority.split(separator: ":" as Character).dropFirst().first.flatMap { Int($0) } ?? (scheme == "https" ? 443 : 80)
    }
}

/// The headers that all requests of a batch share. Built once, and encoded once per connection. A new credential needs a new template.
package final class HeaderTemplate: Sendable {
    package let origin: PushOrigin
    /// The value of `authorization`; `nil` with certificate authentication.
    let authorization: Secret?
    package let fields: [PushHeader]
    /// Whether each request has its own `content-length`; over HTTP/1.1 each always has.
    let sendsContentLength: Bool

    package init(origin: PushOrigin, authorization: Secret?, fields: [PushHeader], sendsContentLength: Bool = false) {
        self.origin = origin
        self.authorization = authorization
        self.fields = fields
        self.sendsContentLength = sendsContentLength
    }

    /// Returns a copy with another value of `authorization`.
    func with(_ authorization: Secret) -> HeaderTemplate {
        HeaderTemplate(origin: origin, authorization: authorization, fields: fields, sendsContentLength: sendsContentLength)
    }
}
