import PushModel
import Support
import Testing

@Suite struct PayloadRulesTests {
    private func check(_ body: String, _ platform: Platform, _ headers: [PushHeader] = []) async -> PushError? {
        await refusal {
            let payload = NativePayload(body: Array(body.utf8), headers: headers)
            try PayloadRules.check(payload, for: platform)
            try PayloadRules.checkSize(payload, for: platform)
        }
    }

    private func object(of size: Int) -> String { "{\"a\":\"\(String(repeating: "x", count: size - 8))\"}" }

    @Test(
        "Each platform has its limit, to the byte",
        arguments: [(Platform.apns, 4096), (.fcmV1, 4096), (.gcm, 4096), (.wns, 5000), (.browser, 3993)])
    func limits(platform: Platform, limit: Int) async {
        #expect(await check(object(of: limit), platform) == nil)
        let error = await check(object(of: limit + 1), platform)
        let name = platform.displayName
        #expect(error?.code == "payload.too_large")
        #expect(error?.message == "the \(name) payload has \(limit + 1) bytes; \(name) accepts at most \(limit)")
        #expect(error?.status == 413)
        #expect(error?.details["limit"] == .integer(Int64(limit)))
        #expect(error?.details["size"] == .integer(Int64(limit + 1)))
    }

    @Test("A VoIP push may have 5,120 bytes on APNs only") func voIP() async {
        for name in ["apns-push-type", "X-Apns-Push-Type"] {
            let headers = [PushHeader(name, "voip")]
            #expect(await check(object(of: 5120), .apns, headers) == nil)
            #expect(await check(object(of: 5121), .apns, headers)?.code == "payload.too_large")
            #expect(await check(object(of: 5000), .gcm, headers)?.code == "payload.too_large")
        }
    }

    @Test("A broadcast of APNs may have 5,120 bytes") func broadcast() async {
        for name in ["apns-channel-id", "X-Apns-Channel-Id"] {
            let headers = [PushHeader(name, "YQ==")]
            #expect(await check(object(of: 5120), .apns, headers) == nil)
            #expect(await check(object(of: 5121), .apns, headers)?.code == "payload.too_large")
            #expect(await check(object(of: 5000), .gcm, headers)?.code == "payload.too_large")
        }
    }

    @Test("APNs, FCM and GCM accept a JSON object, and errors have a position")
    func json() async {
        for platform in [Platform.apns, .fcmV1, .gcm] {
            let error = await check("{\n\"a\": }", platform)
            #expect(error?.code == "payload.invalid")
            #expect(error?.message.contains("payload is not JSON") == true)
            #expect(error?.message.hasSuffix("at line 2, column 6") == true)
            #expect(await check("[]", platform)?.message == "the \(platform.displayName) payload is not a JSON object")
            #expect(await check("", platform)?.code == "payload.empty")
        }
        #expect(await check("anything", .browser) == nil)
    }

    private static let declarative = #"{"web_push":8030,"notification":{"title":"News","navigate":"https://example.com/news"}}"#

    @Test(
        "A declarative push for a browser must be complete",
        arguments: [
            (#""title":"News","#, "", "has no title"), (#""title":"News""#, #""title":"""#, "has no title"),
            (#""title":"News""#, #""title":7"#, "has no title"),
            (#","navigate":"https://example.com/news""#, "", "has no \"navigate\""),
            ("https://example.com", "", "has no \"navigate\""), ("https:", "file:", "has no \"navigate\""),
            (#"{"title":"News","navigate":"https://example.com/news"}"#, "[]", "is not a JSON object"),
        ])
    func declarative(good: String, bad: String, fault: String) async {
        let error = await check(Self.declarative.replacing(good, with: bad), .browser)
        #expect(error?.code == "payload.invalid")
        #expect(error?.message.contains(fault) == true, "\(error?.message ?? "")")
    }

    @Test("Other JSON for a browser is not checked")
    func notDeclarative() async {
        #expect(await check(Self.declarative, .browser) == nil)
        #expect(await check(#"{"web_push":8030}"#, .apns) == nil)
        for text in [#"{"web_push":8031,"notification":{}}"#, #"{"web_push":"8030"}"#, #"{"a":"\"web_push\": 8030"}"#, #""web_push""#] {
            #expect(await check(text, .browser) == nil)
            #expect(!DeclarativePush.isMeant(Array(text.utf8)))
        }
        #expect(DeclarativePush.isMeant(Array(Self.declarative.utf8)))
    }

    @Test(
        "A WNS body matches its type: XML with that root, or raw",
        arguments: [
            (nil, "<toast><a>\u{e9}</a></toast>"), (nil, "\u{FEFF}<?xml version='1.0'?>\n<Tile/>"), (nil, "anything"), (nil, "{\"a\":1}"),
            ("wns/toast", "<toast launch='a'/>"), ("WNS/Badge", "<badge value='7'/>"), ("wns/raw", "<order"), ("wns/raw", "\u{0}"),
        ] as [(String?, String)])
    func wns(type: String?, body: String) async {
        #expect(await check(body, .wns, type.map { [PushHeader("x-wns-type", $0)] } ?? []) == nil)
    }

    @Test(
        "Any other body is rejected with the position, because the device would lose it",
        arguments: [
            (nil, "<toast>\n<visual></toast>", "is not XML: </toast> was found where </visual> was expected at line 2, column 9"),
            (nil, " <toast", "is not XML: the tag <toast> is never closed with \">\" at line 1, column 2"),
            ("wns/tile", "7", "is not XML: text is not allowed before the root element at line 1, column 1"),
            (nil, "<order/>", "<order>, not toast, tile or badge"),
            ("wns/toast", "<tile/>", "<tile>, not wns/toast"),
        ] as [(String?, String, String)])
    func badWNS(type: String?, body: String, end: String) async {
        let error = await check(body, .wns, type.map { [PushHeader("X-WNS-Type", $0)] } ?? [])
        #expect(error?.code == "payload.invalid" && error?.status == 400)
        #expect(error?.message.hasSuffix(end) == true, "\(error?.message ?? "")")
        #expect(error?.hint?.hasSuffix("wns/raw") == true)
    }
}
