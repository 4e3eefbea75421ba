import Foundation

/// A connection to a server on this machine, with control over every byte.
final class WireConnection: Sendable {
    private let socket: Int32

    /// How a connection ended, as its client sees it.
    enum End: Equatable {
        case closed
        case reset
        /// It did not end within ten minutes.
        case never
    }

    /// - Parameter buffer: size of the receive buffer; nil for the system's default of megabytes.
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

    /// Sends the bytes. Returns `false` if the server has closed the connection or reads nothing for ten minutes.
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

    /// Ends the sending side; the response may still come.
    func finish() { shutdown(socket, Int32(SHUT_WR)) }

    /// Reads until the server closes.
    func rest() async -> (bytes: [UInt8], ending: End) { await onThread { [self] in readRest(isSlow: false) } }

    /// Sends `text`, then reads until the server closes, with a short pause before every read.
    func slowRest(after text: String) async -> (bytes: [UInt8], ending: End) {
        await onThread { [self] in
            let bytes = Array(text.utf8)
            guard Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return ([], .reset) }
            return readRest(isSlow: true)
        }
    }

    private func readRest(isSlow: Bool) -> (bytes: [UInt8], ending: End) {
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

    /// Reads one response; the connection stays open. Nil if the connection ends first.
    func answer() async throws -> WireAnswer? {
        let bytes = await onThread { [socket] in
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            // One byte at a time, so that nothing of the next response is consumed.
            while bytes.suffix(4) != Array("\r\n\r\n".utf8)[...], read(socket, &byte, 1) == 1 { bytes.append(byte) }
            let head = String(decoding: bytes, as: UTF8.self)
            var body = [UInt8](repeating: 0, count: head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0)
            let count = body.isEmpty ? 0 : recv(socket, &body, body.count, Int32(MSG_WAITALL))
            return bytes + body.prefix(max(0, count))
        }
        return bytes.isEmpty ? nil : try WireAnswer(parsing: bytes)
    }

    /// Whether exactly this text comes next.
    func hears(_ text: String) async -> Bool {
        await onThread { [socket] in
            var bytes = [UInt8](repeating: 0, count: text.utf8.count)
            return recv(socket, &bytes, bytes.count, Int32(MSG_WAITALL)) == bytes.count && bytes == Array(text.utf8)
        }
    }

    /// Sends a piece repeatedly, with short pauses, until the server closes the connection. Returns `false` if the server still accepts
    /// pieces after ten minutes, or blocks one for that long.
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
