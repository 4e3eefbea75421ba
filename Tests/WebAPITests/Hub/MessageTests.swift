import HTTPTypes
import HubWire
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct MessageTests {
    private static let token = "62BCD3484834B7E2DC56733AC5509259"

    private func message(
        _ headers: KeyValuePairs<String, String>, _ body: String = #"{"aps":{"alert":"a"}}"#, query: String = "",
        needsTime: Bool = false
    ) throws -> Message {
        try Message(
            headers: try .of(headers), query: RequestQuery(parsing: query), body: Array(body.utf8), needsTime: needsTime)
    }

    private func native(_ message: Message) -> [PushHeader]? {
        guard case .native(let payloads) = message.request.content, let platform = message.platform else { return nil }
        return payloads[platform]?.headers
    }

    @Test(
        arguments: [
            ("apple", .apns), ("gcm", .gcm), ("fcmv1", .fcmV1), ("fcmV1", .fcmV1), ("windows", .wns), ("WindowsPhone", .mpns),
            ("adm", .adm), ("baidu", .baidu), ("browser", .browser), ("xiaomi", .xiaomi),
        ] as [(String, Platform)])
    func `a native notification is passed to its platform unchanged`(format: String, platform: Platform) throws {
        let message = try message(["ServiceBusNotification-Format": format], "bytes")
        #expect(message.platform == platform)
        #expect(
            message.request
                == NotificationRequest(audience: .everyone, content: .native([platform: NativePayload(body: Array("bytes".utf8))])))
        #expect(message.scheduledFor == nil && message.devices.isEmpty && message.requests == [message.request])
    }

    @Test func `a template notification reads every value as text`() throws {
        let message = try message(
            ["ServiceBusNotification-Format": "template", "ServiceBusNotification-Tags": "a && !b"],
            #"{"s":"x","n":1.5,"b":true,"o":{"k":[1e3]},"z":null,"id":12345678901234567890,"price":12.50}"#)
        #expect(message.platform == nil)
        #expect(
            message.request.content
                == .template([
                    "s": "x", "n": "1.5", "b": "true", "o": #"{"k":[1e3]}"#, "id": "12345678901234567890", "price": "12.50",
                ]))
        #expect(message.request.audience == .expression(try TagExpression(parsing: "a && !b")))
    }

    @Test func `a byte order mark is removed from JSON, and stays in raw content`() throws {
        for (format, platform, body) in [("apple", Platform.apns, "{}"), ("windows", .wns, "\u{FEFF}{}")] {
            let message = try message(["ServiceBusNotification-Format": format], "\u{FEFF}{}")
            #expect(message.request.content == .native([platform: NativePayload(body: Array(body.utf8))]))
        }
        #expect(try message(["ServiceBusNotification-Format": "template"], "\u{FEFF}{\"a\":1}").request.content == .template(["a": "1"]))
    }

    @Test(arguments: [nil, "", "nokiax", "apns"] as [String?])
    func `a missing or unknown format is refused`(format: String?) async {
        let error = await refusal {
            try message(format.map { ["ServiceBusNotification-Format": $0] as KeyValuePairs<String, String> } ?? [:])
        }
        #expect(error?.code == "notification.format" && error?.status == 400)
    }

    private static func joined(_ count: Int, _ sign: String) -> String {
        (0..<count).map { "t\($0)" }.joined(separator: sign)
    }

    @Test func `an expression has at most 20 tags, or 6 if it is more than a list`() async throws {
        func tags(_ text: String) throws -> Message {
            try message(["ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": text])
        }
        for text in [
            Self.joined(20, "||"), "(" + Self.joined(10, " || ") + ") || (" + Self.joined(10, "||") + ")", Self.joined(6, "&&"),
            "!a&&(b||c)",
        ] {
            _ = try tags(text)
        }
        for text in [Self.joined(21, "||"), Self.joined(7, "&&"), "!a||" + Self.joined(6, "||"), "(a||b)&&" + Self.joined(5, "||")] {
            let error = await refusal { try tags(text) }
            #expect(error?.code == "tag_expression.too_long" && error?.status == 400, "\(text)")
        }
        #expect(await refusal { try tags("a &&") }?.code == "tag_expression.invalid")
    }

    @Test(
        arguments: [
            "2026-11-21T05:28:52", "2026-11-21T05:28:52Z", "2026-11-21T05:28:52.000Z", "2026-11-21T05:28:52.000702+00:00",
            "2026-11-21'T'05:28:52", "11/21/2026 05:28:52", "2026-11-21T06:28:52+01:00",
        ])
    func `a time is read in every form that clients write`(text: String) throws {
        let message = try message(
            ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-ScheduleTime": text], needsTime: true)
        #expect(message.scheduledFor == Timestamp(seconds: 1_795_238_932))
    }

    @Test(arguments: [nil, "", "soon", "13/45/2026 00:00:00", "2026-11-21T25:00:00"] as [String?])
    func `a schedule without a time is refused`(text: String?) async {
        let error = await refusal {
            try Message(
                headers: try .of(
                    ["ServiceBusNotification-Format": "apple"], also: text.map { ("ServiceBusNotification-ScheduleTime", $0) }),
                query: RequestQuery(parsing: ""), body: [], needsTime: true)
        }
        #expect(error?.code == "notification.schedule" && error?.status == 400)
    }

    @Test func `headers of APNs are passed on, without stray bytes`() throws {
        let message = try message([
            "ServiceBusNotification-Format": "apple", "apns-topic": "com.example", "APNS-Push-Type": "alert", "X-Apns-Push-Type": "voip",
            "X-Apns-Priority": "5", "X-Apns-Expiration": "\u{1}\u{E9}", "X-WNS-Type": "wns/toast",
            "ServiceBusNotification-Apns-Expiry": "01/06/2026 09:00:00",
        ])
        #expect(
            native(message) == [
                PushHeader("apns-topic", "com.example"), PushHeader("apns-push-type", "alert"), PushHeader("apns-priority", "5"),
            ])
        #expect(message.request.options.expiration == HubBench.startTime + .seconds(86_400))
    }

    @Test(arguments: ["ServiceBusNotification-Apns-Expiry", "ServiceBusNotification-ApnsExpiry"])
    func `an unreadable expiry is not an error`(name: String) throws {
        #expect(try message(["ServiceBusNotification-Format": "apple", name: "whenever"]).request.options.expiration == nil)
        let day = HubBench.startTime + .seconds(86_400)
        #expect(try message(["ServiceBusNotification-Format": "apple", name: day.description]).request.options.expiration == day)
    }

    @Test func `headers of the other platforms are passed on with their names`() throws {
        let wns = try message(
            ["ServiceBusNotification-Format": "windows", "X-WNS-Type": "wns/toast", "x-wns-tag": "t", "X-Other": "1"], "<toast/>")
        #expect(native(wns) == [PushHeader("X-WNS-Type", "wns/toast"), PushHeader("x-wns-tag", "t")])
        let mpns = try message([
            "ServiceBusNotification-Format": "windowsphone", "X-WindowsPhone-Target": "toast", "X-NotificationClass": "2",
            "x-ms-version": "1",
            "X-Own": "y",
        ])
        #expect(
            native(mpns) == [
                PushHeader("X-WindowsPhone-Target", "toast"), PushHeader("X-NotificationClass", "2"), PushHeader("X-Own", "y"),
            ])
        let baidu = try message(["ServiceBusNotification-Format": "baidu", "X-Baidu-Message-Type": "1"])
        #expect(native(baidu) == [PushHeader("X-Baidu-Message-Type", "1")])
    }

    @Test(arguments: ["api-version=2015-01&test", "test=true&direct=", "TEST"])
    func `the flag test makes a test send`(query: String) throws {
        let message = try message(
            ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-DeviceHandle": Self.token], query: query)
        #expect(message.request.isTest)
    }

    @Test(arguments: ["api-version=2015-01&direct", "direct=", "direct=true&api-version=1", ""])
    func `a device handle makes a direct send, also without the flag`(query: String) throws {
        let message = try message(
            [
                "ServiceBusNotification-Format": "apple", "ServiceBusNotification-DeviceHandle": Self.token.lowercased(),
                "ServiceBusNotification-Tags": "everybody",
            ], query: query)
        #expect(message.request.audience == .device(.apns(token: Self.token)))
    }

    @Test(arguments: ["apns-channel-id", "X-Apns-Channel-Id"])
    func `a channel of APNs makes a direct send to it, and tags are ignored`(name: String) async throws {
        let channel = try message([
            "ServiceBusNotification-Format": "apple", name: "dHN0LXNyY2gtY2hubA==", "ServiceBusNotification-Tags": "everybody",
        ])
        #expect(channel.request.audience == .device(.apns(token: "7473742D737263682D63686E6C")))
        #expect(native(channel) == [PushHeader("apns-channel-id", "dHN0LXNyY2gtY2hubA==")])
        let error = await refusal { try message(["ServiceBusNotification-Format": "apple", name: "no id"]) }
        #expect(error?.code == "handle.invalid" && error?.status == 400)
        let windows = try message(
            ["ServiceBusNotification-Format": "windows", name: "YQ==", "ServiceBusNotification-Tags": "everybody"], "<toast/>")
        #expect(windows.request.audience.expression != nil)
    }

    @Test func `a direct send without a handle is never a broadcast`() async {
        for headers: KeyValuePairs<String, String> in [
            ["ServiceBusNotification-Format": "apple"],
            ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-DeviceHandle": " "],
        ] {
            let error = await refusal { try message(headers, query: "direct") }
            #expect(error?.code == "handle.invalid" && error?.status == 400)
        }
        let blank = await refusal {
            try message(["ServiceBusNotification-Format": "apple", "ServiceBusNotification-DeviceHandle": ""])
        }
        #expect(blank?.code == "handle.invalid")
        let template = await refusal {
            try message(["ServiceBusNotification-Format": "template", "ServiceBusNotification-DeviceHandle": Self.token], "{}")
        }
        #expect(template?.code == "payload.template_direct")
    }

    @Test func `given tags never mean everyone, whatever their characters`() async throws {
        let format = ("ServiceBusNotification-Format", "apple")
        for text in ["Zürich", "新聞"] {
            let message = try message([format.0: format.1, "ServiceBusNotification-Tags": text])
            #expect(message.request.audience == .expression(.tag(try Tag(text))))
        }
        for text in ["a ||\u{00A0}", "\u{FFFD}", "a b", "&&"] {
            let error = await refusal { try message([format.0: format.1, "ServiceBusNotification-Tags": text]) }
            #expect(error?.status == 400 && error?.code.hasPrefix("tag") == true, "\(text)")
        }
        let first = try message([format.0: format.1, "ServiceBusNotification-Tags": " ", "servicebusnotification-tags": "a"])
        #expect(first.request.audience == .expression(.tag(try Tag("a"))))
        let both = await refusal {
            try message([format.0: format.1, "ServiceBusNotification-Tags": "a", "servicebusnotification-tags": "b"])
        }
        #expect(both?.status == 400)
        let headerless = try message([format.0: format.1])
        #expect(headerless.request.audience == .everyone)
    }

    @Test(arguments: ["", "  ", "\t", "\u{00A0}", " \u{2003} "]) func `empty tags mean everyone only if the operator allows it`(
        blank: String
    ) async throws {
        for (headers, needsTime) in [
            (["ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": blank], false),
            (["ServiceBusNotification-Format": "template", "servicebusnotification-TAGS": blank], false),
            (
                [
                    "ServiceBusNotification-Format": "template", "ServiceBusNotification-Tags": blank,
                    "ServiceBusNotification-ScheduleTime": "2030-01-01T00:00:00Z",
                ], true
            ),
        ] as [(KeyValuePairs<String, String>, Bool)] {
            let error = await refusal { try message(headers, "{}", needsTime: needsTime) }
            #expect(error?.code == "tags.empty" && error?.status == 400)
            #expect(error?.message == "ServiceBusNotification-Tags is empty; nothing was sent")
            guard blank.utf8.allSatisfy({ $0 < 0x80 }) else { continue }
            let lenient = try Message(
                headers: .of(headers), query: RequestQuery(parsing: ""), body: Array("{}".utf8), needsTime: needsTime, emptyTags: .everyone)
            #expect(lenient.request.audience == .everyone)
        }
        // For a direct send the tags do not matter.
        let direct = try message(
            [
                "ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": blank,
                "ServiceBusNotification-DeviceHandle": Self.token,
            ], "{}")
        #expect(direct.request.audience == .device(.apns(token: Self.token)))
    }

    @Test func `an invalid time is an error and does not mean now`() async {
        let error = await refusal {
            try message(["ServiceBusNotification-Format": "apple", "ServiceBusNotification-ScheduleTime": "morgen früh"])
        }
        #expect(error?.code == "notification.schedule")
    }

    @Test(arguments: ["Format", "DeviceHandle", "ScheduleTime"]) func `a duplicate header is refused`(name: String) async throws {
        let fields = try HTTPFields.of(
            [
                "ServiceBusNotification-Format": "apple", "ServiceBusNotification-DeviceHandle": Self.token,
                "ServiceBusNotification-ScheduleTime": "2026-01-31T12:00:00Z",
            ], also: ("ServiceBusNotification-\(name)", "apple"))
        let error = await refusal { try Message(headers: fields, query: RequestQuery(parsing: ""), body: Array("{}".utf8)) }
        #expect(error?.status == 400)
        #expect(error?.message.contains("has 2 headers") == true, "\(String(describing: error))")
    }

    @Test func `a test send cannot be scheduled`() async {
        let error = await refusal {
            try message(
                ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-ScheduleTime": "2099-01-31T12:00:00Z"], query: "test")
        }
        #expect(error?.code == "notification.schedule")
    }

    @Test func `a browser's handle has its keys in separate headers`() throws {
        guard case .browser(let endpoint, let p256dh, let auth) = DeviceHandle.subscription else { return }
        let message = try message(
            ["ServiceBusNotification-Format": "browser", "ServiceBusNotification-DeviceHandle": endpoint, "P256DH": p256dh, "Auth": auth],
            query: "direct")
        #expect(message.request.audience == .device(.subscription))
    }

    @Test func `a message has at most 64 KiB`() async throws {
        let headers: KeyValuePairs<String, String> = ["ServiceBusNotification-Format": "windows"]
        _ = try message(headers, String(repeating: "x", count: 64 << 10))
        let error = await refusal { try message(headers, String(repeating: "x", count: (64 << 10) + 1)) }
        #expect(error?.code == "payload.too_large" && error?.status == 413)
    }

    @Test(arguments: ["", "[]", "text", #"{"a":"#])
    func `properties that are not an object are refused`(body: String) async {
        let error = await refusal { try message(["ServiceBusNotification-Format": "template"], body) }
        #expect(error?.code == "payload.invalid" && error?.status == 400)
    }
}

extension HTTPFields {
    static func of(_ pairs: KeyValuePairs<String, String>, also more: (String, String)? = nil) throws -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs.map({ ($0.key, $0.value) }) + (more.map { [$0] } ?? []) {
            fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return fields
    }
}
