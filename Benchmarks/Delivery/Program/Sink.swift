import Delivery
import Glibc
import PushModel

/// The push service that receives the pushes, over one connection.
struct Sink {
    let port: Int
    let certificate: String
    let key: String
    /// Concurrent pushes.
    let streams: Int

    /// A body of 210 bytes.
    static var body: [UInt8] {
        let text = #"{"aps":{"alert":{"title":"A title of usual length","body":""#
        let end = #""},"sound":"default"}}"#
        return Array((text + String(repeating: "x", count: 210 - text.utf8.count - end.utf8.count) + end).utf8)
    }

    func transport() throws -> HTTP2Transport {
        var limits = HTTP2Limits()
        (limits.connections, limits.streams) = (1, streams)
        let trust = TLSTrust(roots: .only(try TLSTrust.certificates(pem: try Self.read(certificate))))
        return HTTP2Transport(
            route: PushRoute(host: "127.0.0.1", port: port, name: "localhost"), trust: trust, limits: limits, random: MachineRandom())
    }

    func keyFile() throws -> [UInt8] { try Self.read(key) }

    func apns(_ transport: HTTP2Transport) throws -> APNsConnector {
        let settings = APNsSettings(
            teamID: "TEAM123456", keyID: "KEY1234567", privateKey: Secret(String(decoding: try keyFile(), as: UTF8.self)),
            topic: "com.example.app")
        return try APNsConnector(settings: settings, transport: transport, clock: MachineClock())
    }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw PushError("file.unreadable", "\(path) cannot be read") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }
}
