import PushCore
import Support
import Testing

@Suite struct PayloadRulesTests {
    private func check(_ body: String, _ platform: Platform, _ headers: [PushHeader] = []) async -> PushError? {
        await refusal { try PayloadRules.check(NativePayload(body: Array(body.utf8), headers: headers), for: platform) }
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
        #expect(error?.message == "the \(name) payload has \(limit + 1) bytes; \(name) takes at most \(limit)")
        #expect(error?.status == 413)
        #expect(error?.details["limit"] == .integer(Int64(limit)))
        #expect(error?.details["size"] == .integer(Int64(limit + 1)))
    }

    @Test("A VoIP push of APNs may have 5,120 bytes, of nobody else") func voIP() async {
        for name in ["apns-push-type", "X-Apns-Push-Type"] {
            let headers = [PushHeader(name, "voip")]
            #expect(await check(object(of: 5120), .apns, headers) == nil)
            #expect(await check(object(of: 5121), .apns, headers)?.code == "payload.too_large")
            #expect(await check(object(of: 5000), .gcm, headers)?.code == "payload.too_large")
        }
    }

    @Test("APNs, FCM and GCM take a JSON object, and the place of a mistake is named")
    func json() async {
        for platform in [Platform.apns, .fcmV1, .gcm] {
            let error = await check("{\n\"a\": }", platform)
            #expect(error?.code == "payload.invalid")
            #expect(error?.message.contains("payload is not JSON") == true)
            #expect(error?.message.hasSuffix("at line 2, column 6") == true)
            #expect(await check("[]", platform)?.message == "the \(platform.displayName) payload is not a JSON object")
            #expect(await check("", platform)?.code == "payload.empty")
        }
        #expect(await check("anything", .wns) == nil)
        #expect(await check("anything", .browser) == nil)
    }
}
