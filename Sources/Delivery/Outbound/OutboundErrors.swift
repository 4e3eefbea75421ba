import NIOHTTP1
import NIOSSL
import PushModel

/// Errors of requests made by plugins. A place is a host with port and path.
extension PushError {
    static func outboundDenied(_ message: OutboundMessage) -> PushError {
        let port = message.port == message.usualPort ? "" : ":\(message.port)"
        return PushError(
            "http.denied", "\(message.place): no permission for this host and port",
            hint: "add \(message.address.host)\(port) to the requested permissions, and have it granted",
            details: ["host": .string("\(message.address.host)\(port)")])
    }

    static func outboundPrivate(_ message: OutboundMessage) -> PushError {
        PushError(
            "http.private_address", "\(message.place): the host resolves to this machine, or to an address that is not public",
            hint: "grant http.private:\(message.address.host) to allow it")
    }

    static func outboundTimeout(_ place: String, _ timeout: Duration) -> PushError {
        PushError(
            "http.timeout", "\(place): no complete response within \(timeout.short)",
            hint: "increase the timeout, or find out why the server is slow", isRetryable: true)
    }

    /// - Parameter limit: The limit, in bytes.
    static func outboundTooLarge(_ place: String, _ what: String, limit: Int) -> PushError {
        PushError(
            "http.too_large", "\(place): \(what) has more than \(limit) bytes", hint: "request or send less at a time",
            details: ["limit": .integer(Int64(limit))])
    }

    static func outboundRedirect(_ place: String, _ why: String, hint: String) -> PushError {
        PushError("http.redirects", "\(place): \(why)", hint: hint)
    }

    static func outboundUnreachable(_ place: String, _ why: String) -> PushError {
        PushError(
            "http.unreachable", "\(place): \(why)", hint: "check host and port, and try again later", isRetryable: true)
    }

    static func outboundCancelled(_ place: String) -> PushError { PushError("cancelled", "\(place): the request was cancelled") }

    /// Converts an error of the connection.
    static func outbound(_ error: any Error, _ place: String) -> PushError {
        switch error {
        case let error as PushError: error
        case HTTPParserError.headerOverflow: outboundTooLarge(place, "the head of the response", limit: OutboundExchange.maximumHead)
        case is HTTPParserError: outboundUnreachable(place, "its response is not HTTP")
        // After the handshake, this only means that the peer closed the connection.
        case NIOSSLError.uncleanShutdown: outboundUnreachable(place, ConnectionFault.text(error))
        case is NIOSSLError, is NIOSSLExtraError:
            PushError(
                "http.tls", "\(place): \(ConnectionFault.text(error))",
                hint: "check that the host name is right and that its certificate is valid")
        default: outboundUnreachable(place, ConnectionFault.text(error))
        }
    }
}
