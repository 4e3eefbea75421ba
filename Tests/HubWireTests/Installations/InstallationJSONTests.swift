import PushModel
import Support
import Testing

@testable import HubWire

@Suite struct InstallationJSONTests {
    private static let token = "62BCD3484834B7E2DC56733AC5509259230CC1BA82BA1AE7D06E91908A05A8FA"

    private func read(_ text: String, id: String = "pad") throws(PushError) -> Installation {
        try InstallationJSONReader.installation(body: Array(text.utf8), id: id)
    }

    private func written(_ installation: Installation) -> String {
        String(decoding: InstallationJSON.document(installation), as: UTF8.self)
    }

    @Test func `an installation has the time of its last write`() throws {
        var installation = try read(#"{"pushChannel":"\#(Self.token)","platform":"apns"}"#)
        installation.updatedAt = HubBench.startTime
        #expect(
            written(installation).contains(
                #""lastActiveOn":"2026-01-05T09:00:00.000Z","lastUpdate":"2026-01-05T09:00:00.000Z""#))
    }

    @Test func `an installation is returned as the service does`() throws {
        var installation = try read(
            """
            {"installationId":"pad","userId":"u-1","pushChannel":"\(Self.token)","platform":"Apns","expirationTime":null,
             "tags":["tag1"],"pushVariables":{"var1":"value1","n":1.50},"secondaryTiles":null,"pushChannelExpired":null,"lastUpdate":"x",
             "templates":{"Template Name":{"body":"{\\"aps\\":{\\"alert\\":\\"alert!\\"}}","headers":{"apns-priority":5},"expiry":"0","tags":null}}}
            """)
        let text =
            #"{"installationId":"pad","pushChannel":"\#(Self.token)","pushChannelExpired":false,"platform":"apns","#
            + #""expirationTime":"9999-12-31T23:59:59.9999999Z","userId":"u-1","tags":["tag1"],"pushVariables":{"n":"1.50","var1":"value1"},"#
            + #""templates":{"Template Name":{"body":"{\"aps\":{\"alert\":\"alert!\"}}","headers":{"apns-priority":"5"},"expiry":"0","#
            + #""tags":["Template Name"]}}}"#
        #expect(written(installation) == text)
        // The answer reads back as the same installation, including the template name that is not a tag.
        installation.templates["Template Name"]?.tags = []
        #expect(try read(text) == installation)
        #expect(written(installation) == text)
    }

    @Test func `empty members are omitted`() throws {
        let text =
            #"{"installationId":"pad","pushChannel":"a:b","pushChannelExpired":false,"platform":"fcmV1","expirationTime":"2026-02-01T00:00:00.000Z"}"#
        #expect(try written(read(text)) == text)
    }

    @Test(
        arguments: [
            ("apns", "AA", .apns), ("WNS", "https://a/", .wns), ("mpns", "http://a/", .mpns), ("gcm", "a", .gcm), ("adm", "a", .adm),
            ("baidu", "1-2", .baidu), ("fcmv1", "a", .fcmV1), ("FcmV1", "a", .fcmV1), ("xiaomi", "a", .xiaomi),
        ] as [(String, String, Platform)])
    func `every platform is recognised in any case`(name: String, channel: String, platform: Platform) throws {
        #expect(try read(#"{"platform":"\#(name)","pushChannel":"\#(channel)"}"#).handle.platform == platform)
    }

    @Test func `a browser's channel is an object, or a text that contains it`() throws {
        guard case .browser(let endpoint, let p256dh, let auth) = DeviceHandle.subscription else { return }
        let channel: JSON = ["endpoint": .string(endpoint), "p256dh": .string(p256dh), "auth": .string(auth)]
        for value in [channel, .string(channel.text())] {
            let body: JSON = ["platform": "browser", "pushChannel": value]
            let installation = try read(body.text())
            #expect(installation.handle == .subscription)
            #expect(written(installation).contains("\"pushChannel\":\(channel.text())"))
        }
    }

    @Test func `tiles have channels, tags and templates of their own`() throws {
        let text =
            #"{"installationId":"pad","pushChannel":"https://a/","pushChannelExpired":false,"platform":"wns","#
            + #""expirationTime":"9999-12-31T23:59:59.9999999Z","secondaryTiles":{"t":{"pushChannel":"https://b/","pushChannelExpired":false,"#
            + #""tags":["x"],"templates":{"n":{"body":"<toast/>","tags":["n"]}}}}}"#
        let installation = try read(text)
        #expect(
            installation.secondaryTiles == [
                "t": SecondaryTile(
                    handle: .wns(channel: "https://b/"), tags: [try Tag("x")],
                    templates: ["n": InstallationTemplate(body: "<toast/>", tags: [try Tag("n")])])
            ])
        #expect(written(installation) == text)
    }

    @Test func `a body as in the documentation is read`() throws {
        let installation = try read(#"{"Platform":"gcm","PushChannel":"a","templates":{"n":{"bodyTemplate":"{}"}}}"#)
        #expect(installation.templates == ["n": InstallationTemplate(body: "{}")])
    }

    @Test(
        arguments: [
            ("", "installation.invalid"), ("[]", "installation.invalid"), ("{", "installation.invalid"), ("{}", "installation.invalid"),
            (#"{"platform":"nokia","pushChannel":"a"}"#, "installation.invalid"), (#"{"platform":"gcm"}"#, "installation.invalid"),
            (#"{"platform":"gcm","pushChannel":null}"#, "installation.invalid"),
            (#"{"platform":"gcm","pushChannel":{"endpoint":"a"}}"#, "installation.invalid"),
            (#"{"platform":"browser","pushChannel":{"endpoint":"a"}}"#, "handle.invalid"),
            (#"{"platform":"apns","pushChannel":"xyz"}"#, "handle.invalid"),
            (#"{"installationId":"other","platform":"gcm","pushChannel":"a"}"#, "installation.invalid"),
            (#"{"platform":"gcm","pushChannel":"a","tags":"x"}"#, "installation.invalid"),
            (#"{"platform":"gcm","pushChannel":"a","tags":["a b"]}"#, "tag.invalid"),
            (#"{"platform":"gcm","pushChannel":"a","templates":{"n":{"body":"{}","tags":["m m"]}}}"#, "tag.invalid"),
            (#"{"platform":"gcm","pushChannel":"a","tags":[1.5]}"#, "installation.invalid"),
            (#"{"platform":"gcm","pushChannel":"a","expirationTime":"soon"}"#, "installation.invalid"),
            (#"{"platform":"gcm","pushChannel":"a","templates":{"n":{}}}"#, "installation.invalid"),
            (#"{"platform":"gcm","pushChannel":"a","templates":[]}"#, "installation.invalid"),
            (#"{"platform":"wns","pushChannel":"https://a/","secondaryTiles":{"t":{}}}"#, "installation.invalid"),
        ])
    func `an invalid installation is refused with 400`(text: String, code: String) async {
        let error = await refusal { try read(text) }
        #expect(error?.code == code && error?.status == 400)
    }

    @Test func `a body over 256 KiB is refused before it is parsed`() async {
        let error = await refusal { try read(String(repeating: " ", count: (256 << 10) + 1)) }
        #expect(error?.status == 413)
    }

    @Test func `a patch is an array of operations`() throws {
        let text =
            #"[{"op":"Add","path":"/tags","value":"[\"a\",\"b\"]"},{"op":"remove","path":"/tags/a"},{"op":"replace","path":"/pushVariables","value":{"a":"1"}},{"op":"replace","path":"/userId","value":null}]"#
        #expect(
            try PatchJSON.operations(body: Array(text.utf8)) == [
                PatchOperation(.add, "/tags", #"["a","b"]"#), PatchOperation(.remove, "/tags/a"),
                PatchOperation(.replace, "/pushVariables", ["a": "1"]), PatchOperation(.replace, "/userId"),
            ])
    }

    @Test(
        arguments: [
            ("{}", "installation.patch"), (#"[{"op":"move","path":"/a"}]"#, "installation.patch"),
            (#"[{"op":"add"}]"#, "installation.patch"),
            ("[1]", "installation.patch"), ("[", "installation.invalid"),
        ])
    func `an invalid patch is refused`(text: String, code: String) async {
        let error = await refusal { try PatchJSON.operations(body: Array(text.utf8)) }
        #expect(error?.code == code && error?.status == 400)
    }
}
