import AsyncHTTPClient
import Glibc
import NIOCore

/// Why a server did not respond. The libraries throw errors of many types, some of which can be recognized only by their text. For a name
/// with several addresses, the text describes all attempts.
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
}
