import AsyncHTTPClient
import Glibc
import NIOCore
import PushModel

/// The reason why a server did not respond. The libraries throw errors of many types, some of which can be recognized only by their text.
/// For a name with several addresses, the text describes all attempts.
package enum ConnectionFailure: Error, Equatable {
    case refused, unknownHost
    /// The certificate is not signed by a trusted authority.
    case untrusted
    /// The certificate is for another name.
    case otherName
    /// The port does not speak TLS.
    case notTLS
    /// The connection was not accepted in time.
    case unanswered
    /// The connection broke after it had been established.
    case broken
    /// The connection was established, but no response came in time.
    case silent
    case interrupted
    case other(String)

    package init(_ error: any Error) {
        let text = "\(error)"
        func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        switch error {
        case is CancellationError: self = .interrupted
        case let error as HTTPClientError where error == .remoteConnectionClosed: self = .broken
        case let error as HTTPClientError where error == .connectTimeout: self = .unanswered
        case let error as HTTPClientError where [.readTimeout, .deadlineExceeded].contains(error): self = .silent
        case let error as HTTPClientError where error == .cancelled: self = .interrupted
        case let error as HTTPClientError: self = .other(error.shortDescription)
        case let error as IOError where [ECONNRESET, EPIPE].contains(error.errnoCode): self = .broken
        case let error as IOError where [ECONNREFUSED, ENOENT].contains(error.errnoCode): self = .refused
        case let error as IOError: self = .other(String(cString: strerror(error.errnoCode)))
        default:
            if says("failedToValidateHostname", "unableToValidateCertificate", "noSuitableName", "Hostname mismatch", "HOSTNAME_MISMATCH") {
                self = .otherName
            } else if says("CERTIFICATE_VERIFY_FAILED") {
                self = .untrusted
            } else if says("WRONG_VERSION_NUMBER", "HTTP_REQUEST") {
                self = .notTLS
            } else if says("Connection refused", "ECONNREFUSED") {
                self = .refused
            } else if says("DNS error", "UnknownHost") {
                self = .unknownHost
            } else {
                self = .other(text)
            }
        }
    }

    package var why: String {
        switch self {
        case .refused: "connection refused"
        case .unknownHost: "unknown host name"
        case .untrusted: "its certificate is not trusted"
        case .otherName: "its certificate is for another name"
        case .notTLS: "the port does not speak TLS"
        case .unanswered: "no connection in time"
        case .broken: "it closed the connection"
        case .silent: "no response in time"
        case .interrupted: "the wait was interrupted"
        case .other(let text): text
        }
    }

    /// Whether the failure occurred before a request could reach the server.
    package var isBeforeRequest: Bool {
        switch self {
        case .refused, .unknownHost, .untrusted, .otherName, .notTLS, .unanswered: true
        case .broken, .silent, .interrupted, .other: false
        }
    }

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
    /// - Parameter mayHaveExecuted: Whether this or an earlier attempt may have been executed.
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
            self == .silent ? "target.timeout" : "target.unreachable", "\(request.target): \(why)",
            hint: mayHaveExecuted ? Self.checkFirstHint : hint,
            isRetryable: isPassing && !mayHaveExecuted,
            details: ["host": .string(request.host), "may_be_done": .bool(mayHaveExecuted)])
    }
}
