import PushCore

/// Who speaks to whom: requests of one origin may share connections, others never do. APNs takes the tokens of one team and one key
/// on a connection, and a client certificate belongs to the connection itself.
package struct PushOrigin: Hashable, Sendable {
    /// The host as requests name it, with the port unless it is the scheme's own.
    package var authority: String
    /// Tells credentials apart: team and key, or empty with a certificate.
    package var sender: String
    /// What the client shows in the TLS handshake.
    package var certificate: ClientCertificate?
    /// `https`, or `http` where the settings allow that.
    package var scheme: String

    package init(authority: String, sender: String = "", certificate: ClientCertificate? = nil, scheme: String = "https") {
        self.authority = authority
        self.sender = sender
        self.certificate = certificate
        self.scheme = scheme
    }

    /// Without the port.
    var host: String { String(authority.prefix { $0 != ":" }) }
    var port: Int {
        authority.split(separator: ":" as Character).dropFirst().first.flatMap { Int($0) } ?? (scheme == "https" ? 443 : 80)
    }
}

/// What all requests of a batch have in common: made once, and encoded once for each connection. A new credential is a new template.
package final class HeaderTemplate: Sendable {
    package let origin: PushOrigin
    /// Value of `authorization`; nil where a certificate speaks for the sender.
    let authorization: Secret?
    package let fields: [PushHeader]
    /// Whether each request has a `content-length` of its own; over HTTP/1.1 every one has.
    let statesLength: Bool

    package init(origin: PushOrigin, authorization: Secret?, fields: [PushHeader], statesLength: Bool = false) {
        self.origin = origin
        self.authorization = authorization
        self.fields = fields
        self.statesLength = statesLength
    }

    /// The same with another value of `authorization`.
    func with(_ authorization: Secret) -> HeaderTemplate {
        HeaderTemplate(origin: origin, authorization: authorization, fields: fields, statesLength: statesLength)
    }
}
