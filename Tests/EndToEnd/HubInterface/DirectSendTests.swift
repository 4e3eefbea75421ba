import HostSupport
import PushModel
import Testing

/// Sends directly to devices, over HTTP.
@Suite struct DirectSendTests {
    private static let handle = String(repeating: "0123456789abcdef", count: 4)
    private static let boundary = "c3a0d9f6b2e14785a6c1d2e3f405162738495a6b7c8d9e0f1a2b3c4d5e6f"

    /// The output of Go's mime/multipart writer without a call of Close.
    private static let openBody =
        "--\(boundary)\r\nContent-Disposition: inline; name=notification\r\nContent-Type: application/json;charset=utf-8\r\n\r\n"
        + #"{"aps":{"alert":"Goal"}}"# + "\r\n--\(boundary)\r\nContent-Disposition: inline; name=devices\r\n"
        + "Content-Type: application/json\r\n\r\n" + #"["\#(handle)"]"#

    private static func head(_ hub: ServedHub, _ framing: String) throws -> String {
        "POST /hub/messages/$batch?direct=&api-version=2015-01 HTTP/1.1\r\nHost: localhost:\(hub.port)\r\nConnection: close\r\n"
            + "Content-Type: multipart/form-data; boundary=\(boundary)\r\nServiceBusNotification-Format: apple\r\n"
            + "X-Apns-Expiration: 1893456000\r\nAuthorization: \(try hub.token(.full))\r\n\(framing)\r\n\r\n"
    }

    private static func chunk(_ text: String) -> String { "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n" }

    /// Sends the bytes and closes the sending side. Returns the status, or nil if there is no response.
    private static func status(_ bytes: String, _ hub: ServedHub) async throws -> Int? {
        let connection = try WireConnection(port: hub.port)
        await connection.send(bytes)
        connection.finish()
        return try? WireAnswer(parsing: await connection.rest().bytes).status
    }

    private static func notifications(_ hub: ServedHub) async throws -> Int? {
        try JSON(parsing: try await hub.call("GET", "/api/v1/hubs/hub/notifications", by: .root).body)["items"]?.array?.count
    }

    @Test func `A batch without its closing delimiter is sent if the body is complete, and rejected if it is truncated`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            let body = Self.openBody
            let length = body.utf8.count
            #expect(try await Self.status(try Self.head(hub, "Content-Length: \(length)") + body, hub) == 201)
            let chunks = Self.chunk(String(body.prefix(100))) + Self.chunk(String(body.dropFirst(100)))
            #expect(try await Self.status(try Self.head(hub, "Transfer-Encoding: chunked") + chunks + "0\r\n\r\n", hub) == 201)
            #expect(try await Self.notifications(hub) == 2)
            for cut in [
                try Self.head(hub, "Content-Length: \(length + 1)") + body,
                try Self.head(hub, "Content-Length: \(length)") + String(body.dropLast()),
                try Self.head(hub, "Transfer-Encoding: chunked") + chunks,
                try Self.head(hub, "Transfer-Encoding: chunked") + Self.chunk(body) + "5\r\n",
            ] {
                let status = try await Self.status(cut, hub)
                #expect(status == nil || status == 400, "\(status ?? 0)")
            }
            #expect(try await Self.notifications(hub) == 2)
        }
    }

    @Test func `Direct sends are listed by the number of their handles`() async throws {
        try await ServedHub.serving(isSimulated: true) { hub in
            let other = String(repeating: "fedcba9876543210", count: 4)
            for list in [#"["\#(Self.handle)"]"#, #"["\#(Self.handle)","\#(other)"]"#] {
                let body = Self.openBody.replacing(#"["\#(Self.handle)"]"#, with: list)
                #expect(try await Self.status(try Self.head(hub, "Content-Length: \(body.utf8.count)") + body, hub) == 201)
            }
            let items = try JSON(parsing: try await hub.call("GET", "/api/v1/hubs/hub/notifications", by: .root).body)["items"]?.array
            #expect(items?.map { $0["handles"] } == [2, 1])
            let listed = try await hub.command(["notification", "list"]).output
            #expect(listed.contains(" 2 handles ") && listed.contains(" 1 handle ") && !listed.contains("everyone"), "\(listed)")
            let id = try #require(items?.first?["notificationId"]?.string)
            let shown = try await hub.command(["notification", "show", id]).output
            #expect(shown.contains("to 2 handles"), "\(shown)")
        }
    }

    @Test func `A wrong topic in one direct send is logged for that send only and does not affect the hub`() async throws {
        try await ServedHub.serving(isSimulated: true, settings: ["PUSHHOST_LOG_LEVEL": "notice"]) { hub in
            func send(_ headers: KeyValuePairs<String, String>) async throws -> WireAnswer {
                var all = [("ServiceBusNotification-Format", "apple"), ("ServiceBusNotification-DeviceHandle", Self.handle)]
                all += headers.map { ($0.key, $0.value) }
                let lines = all.map { "\($0.0): \($0.1)" } + ["Authorization: \(try hub.token(.full))"]
                return try await WireAnswer.exchange(
                    "POST", "/hub/messages?direct&test&api-version=2015-01", lines, body: Array(#"{"aps":{"alert":"Goal"}}"#.utf8),
                    port: hub.port)
            }
            let foreign = try await send(["apns-topic": "com.example.foreign"])
            #expect(foreign.body.contains("the apns-topic \"com.example.foreign\" of this send is not "), "\(foreign.body)")
            let heard = try await hub.hear("APNs rejected the notification ")
            let reason = try await hub.hear("TopicDisallowed: the apns-topic \"com.example.foreign\" of this send is not ")
            let good = try await send([:])
            #expect(good.body.contains("<Success>1</Success>"), "\(good.body)")
            #expect(!(heard + reason).contains("fails all deliveries"))
            let doctor = try await hub.command(["doctor"])
            #expect(!doctor.output.contains("TopicDisallowed"), "\(doctor.output)")
        }
    }
}
