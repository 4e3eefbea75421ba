import Glibc
import NIOCore

/// The key by which connections are grouped into clients: an IPv4 address, or the /64 network of an IPv6 address.
enum ClientAddress {
    /// `local` for a Unix domain socket.
    static func name(of address: SocketAddress?) -> String {
        guard let text = address?.ipAddress else { return "local" }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &bytes) == 1 else { return text }
        // An IPv4-mapped IPv6 address counts as IPv4.
        return bytes.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])
            ? bytes.suffix(4).map(String.init).joined(separator: ".")
            : bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }
}
