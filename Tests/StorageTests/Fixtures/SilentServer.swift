import Glibc

/// A port of this machine on which connections are accepted and nothing is ever answered.
final class SilentServer: Sendable {
    let port: UInt16
    private let descriptor: Int32

    struct Failure: Error {
        let code = errno
    }

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = withUnsafeMutableBytes(of: &address) { bytes -> Bool in
            guard let generic = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            // The kernel accepts connections as long as its queue has room.
            return bind(descriptor, generic, size) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, generic, &size) == 0
        }
        guard isListening else {
            close(descriptor)
            throw Failure()
        }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
