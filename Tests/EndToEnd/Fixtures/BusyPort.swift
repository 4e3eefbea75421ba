import Glibc

/// A port on 127.0.0.1 that is in use until the object is released.
final class BusyPort: Sendable {
    let number: Int
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutableBytes(of: &address) { bytes in
            guard let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else { return Int32(-1) }
            return bind(descriptor, pointer, length) | listen(descriptor, 8) | getsockname(descriptor, pointer, &length)
        }
        self.descriptor = descriptor
        number = Int(in_port_t(bigEndian: address.sin_port))
        guard status == 0 else { throw CancellationError() }
    }

    deinit { close(descriptor) }
}
