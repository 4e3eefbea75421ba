import Glibc
import Synchronization

/// Ports for servers that are restarted on the same port.
enum FreePort {
    private static let given = Mutex<Set<Int>>([])

    /// Returns a free port, a different one at each call. It lies outside the system's ephemeral range, so that no client gets it while
    /// the server is down.
    static func any() throws -> Int {
        for port in (20_000..<32_000).shuffled() {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            let status = withUnsafeBytes(of: &address) { bytes in
                bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
            }
            if status == 0, given.withLock({ $0.insert(port).inserted }) { return port }
        }
        throw CancellationError()
    }
}
