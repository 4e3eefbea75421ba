import PushCore

extension ConnectionFailure {
    /// Whether the same request may work a moment later.
    var isPassing: Bool {
        switch self {
        case .refused, .unanswered, .broken, .silent: true
        case .unknownHost, .untrusted, .otherName, .notTLS, .interrupted, .other: false
        }
    }

    /// The hint after what must not simply be done again.
    static let lookFirst = "it may have been done all the same: look before doing it again"

    /// `target.timeout` where the machine was reached and said nothing, `target.unreachable` for anything else; `cancelled` for a wait
    /// that was ended.
    /// - Parameter mayBeDone: whether the machine may have carried it out, at this attempt or before.
    func error(of request: RemoteRequest, mayBeDone: Bool) -> PushError {
        if self == .interrupted { return PushError("cancelled", "the wait for \(request.host) was ended") }
        let hint =
            switch self {
            case .refused: "check host and port; is the server running?"
            case .unknownHost: "check the name of the host"
            case .untrusted: "name the authority that signed it with --authority, or check who answers there"
            case .otherName: "use the name that the certificate is for, or check who answers there"
            case .notTLS: "for a plain port write http://"
            case .unanswered: "check host and port, and whether a firewall lies between"
            case .broken where request.url.lowercased().hasPrefix("http:"): "try again later; for a port with TLS write https://"
            case .broken, .silent, .interrupted: "try again later"
            case .other: "check host and port: is it an HTTP server?"
            }
        return PushError(
            self == .silent ? "target.timeout" : "target.unreachable", "\(request.place): \(why)",
            hint: mayBeDone ? Self.lookFirst : hint,
            isRetryable: isPassing && !mayBeDone,
            details: ["host": .string(request.host), "may_be_done": .bool(mayBeDone)])
    }
}

extension RemoteRequest {
    /// With its port.
    var host: String {
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(rest.prefix { $0 != "/" && $0 != "?" })
    }
}
