import NIOHTTP1
import NIOSSL
import PushModel

/// Errors of requests made by plugins. A place is a host with port and path.
extension PushError {
    static func outboundDenied(_ message: OutboundMessage) -> PushError {
        let port = message.port == message.usualPort ? "" : ":\(message.port)"
        return PushError(
            "http.denied", "\(message.endpoint): no permission for this host and port",
            hint: "add \(message.address.host)\(port) to the requested permissions, and have it granted",
            details: ["host": .string("\(message.address.host)\(port)")])
    }

    static func outboundPrivate(_ message: OutboundMessage) -> PushError {
        PushError(
            "http.private_address", "\(message.endpoint): the host resolves to this machine, or to an address that is not public",
            hint: "grant http.private:\(message.address.host) to allow it")
    }

    static func outboundTimeout(_ endpoint: String, _ timeout: Duration) -> PushError {
        PushError(
            "http.timeout", "\(endpoint): no complete response within \(timeout.short)",
            hint: "increase the timeout, or find out why the server is slow", isRetryable: true)
    }

    /// - Parameter limit: The limit, in bytes.
    static func outboundTooLarge(_ endpoint: String, _ what: String, limit: Int) -> PushError {
        PushError(
            "http.too_large", "\(endpoint): \(what) has more than \(limit) bytes", hint: "request or send less at a time",
            details: ["limit": .integer(Int64(limit))])
    }

    static func outboundRedirect(_ endpoint: String, _ why: String, hint: String) -> PushError {
        PushError("http.redirects", "\(endpoint): \(why)", hint: hint)
    }

    static func outboundUnreachable(_ endpoint: String, _ why: String) -> PushError {
        PushError(
            "http.unreachable", "\(endpoint): \(why)", hint: "check host and port, and try again later", isRetryable: true)
    }

    static func outboundCancelled(_ endpoint: String) -> PushError { PushError("cancelled", "\(endpoint): the request was cancelled") }

    /// Converts an error of the connection.
    static func outbound(_ error: any Error, _ endpoint: String) -> PushError {
        switch error {
        case let error as PushError: error
        case HTTPParserError.headerOverflow: outboundTooLarge(endpoint, "the head of the response", limit: OutboundExchange.maximumHead)
        case is HTTPParserError: outboundUnreachable(endpoint, "its response is not HTTP")
        // After the handshake, this only means that the peer closed the connection.
        case NIOSSLError.uncleanShutdown: outboundUnreachable(endpoint, ConnectionFault.text(error))
        case is NIOSSLError, is NIOSSLExtraError:
            PushError(
                "http.tls", "\(endpoint): \(ConnectionFault.text(error))",
                hint: "check that the host name is right and that its certificate is valid")
        default: outboundUnreachable(endpoint, ConnectionFault.text(error))
        }
    }
}
