import Foundation

/// A connection to a server on this machine, byte by byte.
final class WireConnection: Sendable {
    private let socket: Int32

    /// How a connection ended, as its client sees it.
    enum Ending: Equatable {
        case closed
        case reset
        /// Not within ten minutes.
        case never
    }

    /// - Parameter buffer: what the system keeps of what has come and was not read; nil for megabytes.
    init(port: Int, buffer: Int32? = nil) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        if var buffer { setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<Int32>.size)) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard status == 0 else {
            let reason = String(cString: strerror(errno))
            Glibc.close(socket)
            throw WireAnswer.Broken(description: "cannot connect: \(reason)")
        }
    }

    deinit { Glibc.close(socket) }

    /// False where the server takes no more.
    @discardableResult
    func send(_ bytes: [UInt8]) async -> Bool {
        await onThread { [socket] in
            var start = 0
            while start < bytes.count {
                let count = bytes[start...].withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if count <= 0 { return false }
                start += count
            }
            return true
        }
    }

    @discardableResult
    func send(_ text: String) async -> Bool { await send(Array(text.utf8)) }

    /// Ends what is sent; the answer may still come.
    func finish() { shutdown(socket, Int32(SHUT_WR)) }

    /// Everything until the server closes.
    func rest() async -> (bytes: [UInt8], ending: Ending) { await onThread { [self] in readRest(isSlow: false) } }

    /// Sends this, and reads from then on everything until the server closes, with a moment before every read.
    func slowRest(after text: String) async -> (bytes: [UInt8], ending: Ending) {
        await onThread { [self] in
            let bytes = Array(text.utf8)
            guard Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return ([], .reset) }
            return readRest(isSlow: true)
        }
    }

    private func readRest(isSlow: Bool) -> (bytes: [UInt8], ending: Ending) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if isSlow { poll(nil, 0, 20) }
            let count = read(socket, &buffer, buffer.count)
            if count > 0 {
                bytes += buffer[..<count]
            } else {
                return (bytes, count == 0 ? .closed : errno == ECONNRESET ? .reset : .never)
            }
        }
    }

    /// One answer; the connection stays. Nil where it ends before that.
    func answer() async throws -> WireAnswer? {
        let bytes = await onThread { [socket] in
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            // A byte at a time, so that nothing of the next answer is taken.
            while bytes.suffix(4) != Array("\r\n\r\n".utf8)[...], read(socket, &byte, 1) == 1 { bytes.append(byte) }
            let head = String(decoding: bytes, as: UTF8.self)
            var body = [UInt8](repeating: 0, count: head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0)
            let count = body.isEmpty ? 0 : recv(socket, &body, body.count, Int32(MSG_WAITALL))
            return bytes + body.prefix(max(0, count))
        }
        return bytes.isEmpty ? nil : try WireAnswer(parsing: bytes)
    }

    /// Whether this and no other text comes next.
    func hears(_ text: String) async -> Bool {
        await onThread { [socket] in
            var bytes = [UInt8](repeating: 0, count: text.utf8.count)
            return recv(socket, &bytes, bytes.count, Int32(MSG_WAITALL)) == bytes.count && bytes == Array(text.utf8)
        }
    }

    /// Sends a piece again and again, with a moment between two of them, until the server takes no more. False where it has taken
    /// them for ten minutes, or has kept one waiting for that long.
    func trickle(_ piece: String) async -> Bool {
        await onThread { [socket] in
            let bytes = Array(piece.utf8)
            let end = ContinuousClock.now + .seconds(600)
            while ContinuousClock.now < end {
                let count = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if count <= 0 { return errno != EAGAIN }
                var reset = pollfd(fd: socket, events: 0, revents: 0)
                if poll(&reset, 1, 20) > 0, reset.revents & Int16(POLLERR | POLLHUP) != 0 { return true }
            }
            return false
        }
    }

    private func onThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: work()) }
        }
    }
}
