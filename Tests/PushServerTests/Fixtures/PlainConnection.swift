import Dispatch
import Glibc

/// A connection over which HTTP/1.1 requests are sent one after the other, to a port of this machine or to a Unix domain socket.
final class PlainConnection: Sendable {
    /// A response; its header names are in lower case.
    struct Answer: Sendable {
        let status: Int
        let headers: [String: String]
        let body: String
    }

    /// The connection ended before the response.
    struct Broken: Error {
        let received: String
    }

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "PlainConnection")

    init(port: Int) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        descriptor = try Self.connected(AF_INET, address)
    }

    /// - Parameter path: At most 107 bytes.
    init(path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        descriptor = try Self.connected(AF_UNIX, address)
    }

    deinit { close(descriptor) }

    private static func connected<Address>(_ family: Int32, _ address: Address) throws -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // A test that waits in vain fails after ten minutes.
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) }
        }
        guard status == 0 else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw Broken(received: "cannot connect: \(reason)")
        }
        return descriptor
    }

    /// Sends a request with its body and reads the response.
    func exchange(_ request: [UInt8]) async throws -> Answer {
        let result: Result<Answer, any Error> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { try self.answer(to: request) }) }
        }
        return try result.get()
    }

    private func answer(to request: [UInt8]) throws -> Answer {
        var sent = 0
        while sent < request.count {
            let count = request[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            // The server may answer and close before it has read everything.
            guard count > 0 else { break }
            sent += count
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
                let answer = try Self.head(bytes[..<end.lowerBound])
                let length = answer.headers["content-length"].flatMap { Int($0) } ?? 0
                if bytes.count >= end.upperBound + length {
                    let body = String(decoding: bytes[end.upperBound..<(end.upperBound + length)], as: UTF8.self)
                    return Answer(status: answer.status, headers: answer.headers, body: body)
                }
            }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw Broken(received: String(decoding: bytes, as: UTF8.self)) }
            bytes += buffer[..<count]
        }
    }

    private static func head(_ bytes: ArraySlice<UInt8>) throws -> (status: Int, headers: [String: String]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.replacing("\r\n", with: "\n").split(separator: "\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count > 1, let status = Int(words[1]) else { throw Broken(received: text) }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let name = line.prefix { $0 != ":" }
            headers[name.lowercased()] = String(line.dropFirst(name.count + 1).drop { $0 == " " })
        }
        return (status, headers)
    }
}
