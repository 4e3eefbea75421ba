import PushModel
import Testing

@Suite struct AlertPayloadsTests {
    @Test("Every platform has a payload that its rules accept", arguments: [nil, "Title"])
    func complete(title: String?) throws {
        for payloads in [
            AlertPayloads.system(title: title, text: "a & <b> \"c\" \u{1}"), AlertPayloads.backend(text: "x"),
            AlertPayloads.currentUser(text: "x"), WakePayloads.secure(id: "7"),
        ] {
            #expect(Set(payloads.keys) == Set(Platform.delivered))
            for (platform, payload) in payloads {
                try PayloadRules.check(payload, for: platform)
                try PayloadRules.checkSize(payload, for: platform)
            }
        }
    }

    @Test("Text is escaped for its document") func escaping() {
        let payloads = AlertPayloads.system(title: "T", text: "1 < 2 & \"3\"")
        let bodies = payloads.mapValues { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies[.apns] == #"{"aps":{"alert":{"title":"T","body":"1 < 2 & \"3\""}}}"#)
        #expect(bodies[.fcmV1] == #"{"message":{"notification":{"title":"T","body":"1 < 2 & \"3\""}}}"#)
        #expect(
            bodies[.wns]
                == #"<toast><visual><binding template="ToastGeneric"><text>T</text>"#
                + #"<text>1 &lt; 2 &amp; "3"</text></binding></visual></toast>"#
        )
        #expect(payloads[.wns]?.headers == [PushHeader("X-WNS-Type", "wns/toast")])
    }

    @Test(
        arguments: zip(
            Platform.delivered,
            [
                #"{"aps":{"alert":"<Tom> & \"Jerry\""}}"#,
                #"{"message":{"notification":{"body":"<Tom> & \"Jerry\""}}}"#,
                #"{"data":{"message":"<Tom> & \"Jerry\""}}"#,
                #"<toast><visual><binding template="ToastText01"><text id="1">&lt;Tom> &amp; "Jerry"</text>"#
                    + "</binding></visual></toast>",
                #"{"title":"<Tom> & \"Jerry\"","body":""}"#,
            ]))
    func `The standard template of a platform shows the property, escaped`(platform: Platform, body: String) throws {
        let text = AlertPayloads.template(property: "messageParam", platform: platform)
        let template = try RegistrationTemplate(body: text, platform: platform)
        #expect(template.compiled.variables == ["messageparam"])
        let rendered = template.compiled.render(TemplateProperties(["messageParam": #"<Tom> & "Jerry""#]))
        #expect(String(decoding: rendered, as: UTF8.self).replacing("&gt;", with: ">") == body)
    }

    @Test(arguments: Platform.delivered)
    func `An invalid property name gives a template that is rejected and injects nothing`(platform: Platform) {
        let text = AlertPayloads.template(property: #"a"},"x":"b"#, platform: platform)
        #expect(throws: PushError.self) { try RegistrationTemplate(body: text, platform: platform) }
    }
}
