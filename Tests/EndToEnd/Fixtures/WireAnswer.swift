import Foundation

/// A server's response to bytes on a socket.
struct WireAnswer: Sendable {
    var status = 0
    /// In order, with names spelled as received.
    var headers: [(name: String, value: String)] = []
    var body = ""
    /// Whether `100 Continue` came first.
    var isContinued = false

    /// The bytes were not an HTTP/1.1 response, or none came within ten minutes.
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    /// The value of a header. The name is case-insensitive.
    subscript(name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }

    /// Sends one request on a new connection.
    /// - Parameter headers: whole lines, in Latin-1, so that any byte can be sent.
    static func exchange(_ method: String, _ path: String, _ headers: [String], body: [UInt8], port: Int) async throws -> WireAnswer {
        let length = body.isEmpty && method != "POST" && method != "PUT" ? [] : ["Content-Length: \(body.count)"]
        let lines = ["\(method) \(path) HTTP/1.1", "Host: localhost:\(port)", "Connection: close"] + headers + length
        let head = (lines.joined(separator: "\r\n") + "\r\n\r\n").unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        let connection = try WireConnection(port: port)
        // The server may refuse before it has read everything.
        await connection.send(head + body)
        return try WireAnswer(parsing: await connection.rest().bytes)
    }

    init() {}

    init(parsing bytes: [UInt8]) throws {
        var bytes = bytes
        let leave = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        if bytes.starts(with: leave) {
            isContinued = true
            bytes.removeFirst(leave.count)
        }
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw Broken(description: "no answer: \(String(decoding: bytes, as: UTF8.self))")
        }
        var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")[...]
        let words = lines.removeFirst().split(separator: " ")
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw Broken(description: "no status line: \(words)")
        }
        self.status = status
        headers = lines.map { line in
            let name = line.prefix { $0 != ":" }
            return (String(name), String(line.dropFirst(name.count + 1).drop { $0 == " " }))
        }
        body = String(decoding: bytes[end.upperBound...], as: UTF8.self)
        guard self["Content-Length"].flatMap({ Int($0) }) ?? 0 == bytes.count - end.upperBound else {
            throw Broken(description: "the body is not as long as Content-Length says: \(headers), \(body)")
        }
    }
}
