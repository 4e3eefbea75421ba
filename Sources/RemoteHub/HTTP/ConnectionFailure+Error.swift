import PushModel

extension ConnectionFailure {
    /// Whether the same request may succeed when repeated.
    var isPassing: Bool {
        switch self {
        case .refused, .unanswered, .broken, .silent: true
        case .unknownHost, .untrusted, .otherName, .notTLS, .interrupted, .other: false
        }
    }

    /// The hint for requests that must not simply be repeated.
    static let checkFirstHint = "the request may have been executed nonetheless: check before repeating it"

    /// `target.timeout` if the machine was reached but did not respond, `cancelled` if the wait was interrupted, otherwise
    /// `target.unreachable`.
    /// - Parameter mayBeDone: Whether this or an earlier attempt may have been executed.
    func error(of request: RemoteRequest, mayHaveExecuted: Bool) -> PushError {
        if self == .interrupted { return PushError("cancelled", "the wait for \(request.host) was cancelled") }
        let hint =
            switch self {
            case .refused: "check host and port; is the server running?"
            case .unknownHost: "check the name of the host"
            case .untrusted: "trust its authority with --authority, or check which server responds"
            case .otherName: "use the name in the certificate, or check which server responds"
            case .notTLS: "for a plain port write http://"
            case .unanswered: "check host, port and firewalls"
            case .broken where request.url.lowercased().hasPrefix("http:"): "try again later; for a port with TLS write https://"
            case .broken, .silent, .interrupted: "try again later"
            case .other: "check host and port: is it an HTTP server?"
            }
        return PushError(
            self == .silent ? "target.timeout" : "target.unreachable", "\(request.place): \(why)",
            hint: mayHaveExecuted ? Self.checkFirstHint : hint,
            isRetryable: isPassing && !mayHaveExecuted,
            details: ["host": .string(request.host), "may_be_done": .bool(mayHaveExecuted)])
    }
}

extension RemoteRequest {
    /// The host with its port.
    var host: String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(rest.prefix { $0 != "/" && $0 != "?" })
    }
}
