import NIOHTTP1
import NIOSSL
import PushCore

/// What goes wrong with requests of plugins. A place is a host, its port and a path.
extension PushError {
    static func outboundDenied(_ message: OutboundMessage) -> PushError {
        let port = message.port == message.usualPort ? "" : ":\(message.port)"
        return PushError(
            "http.denied", "\(message.place): the host is not granted at this port",
            hint: "ask for \(message.address.host)\(port) among the permissions, and have it granted",
            details: ["host": .string("\(message.address.host)\(port)")])
    }

    static func outboundPrivate(_ message: OutboundMessage) -> PushError {
        PushError(
            "http.private_address", "\(message.place): the host leads to this machine, or to an address that is not public",
            hint: "grant http.private:\(message.address.host) if it shall")
    }

    static func outboundTimeout(_ place: String, _ timeout: Duration) -> PushError {
        PushError(
            "http.timeout", "\(place): no whole answer came within \(timeout.short)",
            hint: "give it more time, or look why the server is slow", isRetryable: true)
    }

    /// - Parameter limit: in bytes.
    static func outboundTooLarge(_ place: String, _ what: String, limit: Int) -> PushError {
        PushError(
            "http.too_large", "\(place): \(what) has more than \(limit) bytes", hint: "ask for less, or send less, at a time",
            details: ["limit": .integer(Int64(limit))])
    }

    static func outboundRedirect(_ place: String, _ why: String, hint: String) -> PushError {
        PushError("http.redirects", "\(place): \(why)", hint: hint)
    }

    static func outboundUnreachable(_ place: String, _ why: String) -> PushError {
        PushError(
            "http.unreachable", "\(place): \(why)", hint: "check host and port, and try again later", isRetryable: true)
    }

    static func outboundCancelled(_ place: String) -> PushError { PushError("cancelled", "\(place): the request was ended") }

    /// What a connection broke on.
    static func outbound(_ error: any Error, _ place: String) -> PushError {
        switch error {
        case let error as PushError: error
        case HTTPParserError.headerOverflow: outboundTooLarge(place, "the head of the answer", limit: OutboundExchange.maximumHead)
        case is HTTPParserError: outboundUnreachable(place, "what it answers is not HTTP")
        // After the handshake it says no more than that somebody has hung up.
        case NIOSSLError.uncleanShutdown: outboundUnreachable(place, ConnectionFault.text(error))
        case is NIOSSLError, is NIOSSLExtraError:
            PushError(
                "http.tls", "\(place): \(ConnectionFault.text(error))",
                hint: "check that the host name is right and that its certificate is valid")
        default: outboundUnreachable(place, ConnectionFault.text(error))
        }
    }
}
