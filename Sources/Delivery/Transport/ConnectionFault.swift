import Glibc
import NIOCore
import NIOPosix
import NIOSSL

/// Describes connection errors for operators.
enum ConnectionFault {
    static func text(_ error: any Error) -> String { refusal(error).text }

    static func refusal(_ error: any Error) -> ConnectionRefusal {
        switch error {
        case let error as ConnectionRefusal: error
        case let error as PublicNetwork.Refusal: ConnectionRefusal(text: error.description, kind: .forbidden)
        case let error as NIOSSLError where "\(error)".contains("NO_APPLICATION_PROTOCOL"):
            ConnectionRefusal(text: "it does not speak HTTP/2 (ALPN offered h2, and it refused)", kind: .withoutHTTP2)
        default: ConnectionRefusal(text: words(error))
        }
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            // Every address of the name failed; report the last error.
            guard let last = error.connectionErrors.last else { return "its name could not be resolved" }
            return text(last.error)
        case let error as IOError: return "the connection failed: \(String(cString: strerror(error.errnoCode)))".excerpt
        case ChannelError.connectTimeout: return "the connection timed out"
        case let error as NIOSSLError: return tls(error)
        case is NIOSSLExtraError: return "its certificate is for another name"
        default: return "\(error)".excerpt
        }
    }

    private static func tls(_ error: NIOSSLError) -> String {
        if case .uncleanShutdown = error { return "the connection was cut" }
        let text = "\(error)"
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            return "its certificate is not trusted: no trust root of this machine or of the settings has issued it"
        }
        return "TLS failed: \(text)".excerpt
    }
}
