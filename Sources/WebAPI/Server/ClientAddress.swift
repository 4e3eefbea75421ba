import Glibc
import NIOCore

/// What the connections of one client have in common: an IPv4 address, or the network of an IPv6 address, of which one client has all.
enum ClientAddress {
    /// `local` for a socket of this machine's file system.
    static func name(of address: SocketAddress?) -> String {
        guard let text = address?.ipAddress else { return "local" }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &bytes) == 1 else { return text }
        // An IPv4 address in the form of IPv6 is one.
        return bytes.prefix(12).elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])
            ? bytes.suffix(4).map(String.init).joined(separator: ".")
            : bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }
}
