import HTTPTypes
import HubWire
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct BatchTests {
    private static let tokens = ["AA01", "AA02"]

    private static func body(
        devices: String = #"["AA01","AA02"]"#, boundary: String = "nh-batch-multipart-boundary", end: String = "\r\n", quote: String = "",
        type: String = "Content-Type"
    ) -> String {
        [
            "--\(boundary)", "\(type): application/json", "Content-Disposition: inline; name=\(quote)notification\(quote)", "",
            #"{"aps":{"alert":"a"}}"#, "--\(boundary)", "\(type): application/json",
            "Content-Disposition: inline; name=\(quote)devices\(quote)", "", devices, "--\(boundary)--",
        ].map { $0 + end }.joined()
    }

    private func batch(
        _ body: String, contentType: String = "multipart/mixed; boundary=\"nh-batch-multipart-boundary\"", format: String = "apple"
    ) throws -> Message {
        try Message(
            batch: .of(["ServiceBusNotification-Format": format, "Content-Type": contentType, "apns-topic": "t"]),
            query: RequestQuery(parsing: "direct"), body: Array(body.utf8))
    }

    @Test func `a batch cannot be scheduled`() async throws {
        let fields = try HTTPFields.of(
            [
                "ServiceBusNotification-Format": "apple", "Content-Type": "multipart/mixed; boundary=nh-batch-multipart-boundary",
                "ServiceBusNotification-ScheduleTime": "2099-01-31T12:00:00Z",
            ])
        let error = await refusal {
            try Message(batch: fields, query: RequestQuery(parsing: "direct"), body: Array(Self.body(devices: #"["AA01"]"#).utf8))
        }
        #expect(error?.code == "notification.schedule" && error?.status == 400)
    }

    @Test(
        arguments: [
            #"multipart/mixed; boundary="nh-batch-multipart-boundary""#, "multipart/mixed; boundary=nh-batch-multipart-boundary",
            #"multipart/mixed; boundary = "nh-batch-multipart-boundary""#,
            "multipart/form-data;boundary=nh-batch-multipart-boundary; charset=utf-8",
            #"Multipart/Mixed; charset="a;b"; Boundary="nh-batch\-multipart-boundary""#,
        ])
    func `a batch is read in every form of multipart`(contentType: String) throws {
        let devices = Self.tokens.map { DeviceHandle.apns(token: $0) }
        let payload = NativePayload(body: Array(#"{"aps":{"alert":"a"}}"#.utf8), headers: [PushHeader("apns-topic", "t")])
        for text in [
            Self.body(), Self.body(end: "\n"), Self.body(quote: "\""), Self.body(type: "Content-type"),
            Self.body(devices: "['AA01', 'AA02']"), "preamble\r\n" + Self.body() + "epilogue",
            Self.body(devices: "[\n\"AA01\",\n\"AA02\"\n]"), String(Self.body().dropLast()),
        ] {
            let message = try batch(text, contentType: contentType)
            #expect(message.devices == devices)
            #expect(message.platform == .apns)
            #expect(message.requests == devices.map { NotificationRequest(audience: .device($0), content: .native([.apns: payload])) })
        }
    }

    /// As Go's mime/multipart writes two parts when its writer is not closed.
    @Test func `the closing delimiter may be missing if the body is complete`() throws {
        let boundary = "b6b7c8e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7081920"
        let text =
            "--\(boundary)\r\nContent-Disposition: inline; name=notification\r\nContent-Type: application/json;charset=utf-8\r\n\r\n"
            + #"{"aps":{"alert":"a"}}"# + "\r\n--\(boundary)\r\nContent-Disposition: inline; name=devices\r\n"
            + "Content-Type: application/json\r\n\r\n" + #"["AA01","AA02"]"#
        for body in [text, text + "\r\n", text.replacing("\r\n", with: "\n")] {
            let message = try batch(body, contentType: "multipart/form-data; boundary=\(boundary)")
            #expect(message.devices == Self.tokens.map { DeviceHandle.apns(token: $0) })
            guard case .native(let payloads) = message.request.content else { return }
            #expect(payloads[.apns]?.body == Array(#"{"aps":{"alert":"a"}}"#.utf8))
        }
    }

    @Test(arguments: ["--", "--b", "--bo", "--bo-"])
    func `a body that ends within its closing delimiter is refused`(end: String) async {
        for last in ["\r\n", "\n"] {
            let text =
                "--bo\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"AA01\"]\r\n--bo\r\n"
                + "Content-Disposition: inline; name=notification\r\n\r\n{\"aps\":{\"alert\":\"a\"}}\(last)\(end)"
            let error = await refusal { try batch(text, contentType: "multipart/mixed; boundary=bo") }
            #expect(error?.code == "notification.batch" && error?.status == 400)
        }
    }

    @Test func `devices may come first, and a longer delimiter is content`() throws {
        let text =
            "--b\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"AA01\"]\r\n--b \t\r\nContent-Disposition: form-data; name=\"notification\"\r\n\r\n--bb\r\n--b--"
        let message = try batch(text, contentType: "multipart/mixed; boundary=b")
        #expect(message.devices.count == 1)
        guard case .native(let payloads) = message.request.content else { return }
        #expect(payloads[.apns]?.body == Array("--bb".utf8))
    }

    @Test func `browsers are listed as subscriptions or as their JSON`() throws {
        guard case .browser(let endpoint, let p256dh, let auth) = DeviceHandle.subscription else { return }
        let subscription: JSON = ["endpoint": .string(endpoint), "p256dh": .string(p256dh), "auth": .string(auth)]
        let list = JSON.array([subscription, .string(subscription.text())]).text()
        #expect(try batch(Self.body(devices: list), format: "browser").devices == [.subscription, .subscription])
    }

    @Test func `a batch has 1 to 1,000 devices`() async throws {
        func list(_ count: Int) -> String { JSON.array(Array(repeating: "AA01", count: count)).text() }
        #expect(try batch(Self.body(devices: list(1000))).devices.count == 1000)
        for count in [0, 1001] {
            let error = await refusal { try batch(Self.body(devices: list(count))) }
            #expect(error?.code == "notification.batch" && error?.status == 400)
        }
    }

    @Test func `an invalid handle is reported with its position`() async {
        let error = await refusal { try batch(Self.body(devices: #"["AA01","x"]"#)) }
        #expect(error?.code == "handle.invalid" && error?.message.hasPrefix("device 2 of the batch: ") == true)
        #expect(await refusal { try batch(Self.body(devices: "[1]")) }?.code == "notification.batch")
    }

    @Test(
        arguments: [
            "", "--nh-batch-multipart-boundary", "--nh-batch-multipart-boundary--", "--nh-batch-multipart-boundary\r\n\r\n",
            "--nh-batch-multipart-boundary\r\nno colon\r\n\r\nx\r\n--nh-batch-multipart-boundary--",
            String(body().dropLast("--nh-batch-multipart-boundary--\r\n".utf8.count - 2)), body(devices: "AA01"), body(devices: "['it's']"),
            String(repeating: "--nh-batch-multipart-boundary\r\n\r\n", count: 100),
            "--nh-batch-multipart-boundary\r\n" + String(repeating: "a: b\r\n", count: 1000),
        ])
    func `a malformed body is refused`(body: String) async {
        let error = await refusal { try batch(body) }
        #expect(error?.code == "notification.batch" && error?.status == 400, "\(body)")
    }

    @Test(arguments: ["application/json", "multipart/mixed", "multipart/mixed; boundary=", "multipart/mixed; boundary=\"\"", "", ";;=;"])
    func `a type without a boundary is refused`(contentType: String) async {
        let error = await refusal { try batch(Self.body(), contentType: contentType) }
        #expect(error?.code == "notification.batch")
    }

    @Test func `templates cannot be sent to devices, and sizes are limited`() async {
        #expect(await refusal { try batch(Self.body(), format: "template") }?.code == "payload.template_direct")
        let text = Self.body().replacing("{\"aps\"", with: String(repeating: " ", count: 64 << 10) + "{\"aps\"")
        #expect(await refusal { try batch(text) }?.code == "payload.too_large")
        let error = await refusal { try batch(String(repeating: "x", count: (6 << 20) + 1)) }
        #expect(error?.code == "payload.too_large" && error?.status == 413)
    }
}
