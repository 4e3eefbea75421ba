import Glibc
import PushRuntime

/// Notifies the service manager of the server's state (sd_notify(3)).
package struct ServiceManager: Sendable {
    private let address: String?

    /// - Parameter address: the value of `NOTIFY_SOCKET`: the path of a datagram socket, or an abstract name that begins with `@`. Nil
    ///   without a service manager.
    package init(address: String? = Environment.variables["NOTIFY_SOCKET"]) { self.address = address }

    /// Sends lines such as `READY=1`. Errors are ignored.
    package func notify(_ lines: String...) {
        guard let address else { return }
        var name = Array(address.utf8)
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        var socketAddress = sockaddr_un()
        socketAddress.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: socketAddress.sun_path)
        guard !name.isEmpty, name.count < capacity else { return }
        withUnsafeMutableBytes(of: &socketAddress.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size - capacity + name.count)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let text = Array(lines.joined(separator: "\n").utf8)
        withUnsafePointer(to: socketAddress) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, text, text.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
