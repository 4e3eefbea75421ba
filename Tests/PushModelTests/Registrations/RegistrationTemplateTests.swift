import PushModel
import Support
import Testing

@Suite struct RegistrationTemplateTests {
    private static let alert = #"{"aps":{"alert":"$(message)"}}"#
    private static let toast = "<toast><visual><binding><text>$(message)</text></binding></visual></toast>"

    private func template(
        _ body: String = alert, name: String? = nil, headers: [PushHeader] = [], expiry: String? = nil,
        priority: String? = nil, _ platform: Platform = .apns
    ) throws(PushError) -> RegistrationTemplate {
        try RegistrationTemplate(
            name: name, body: body, headers: headers, expiry: expiry, priority: priority, platform: platform)
    }

    @Test("An invalid template is rejected with the position when it is created") func place() async {
        let error = await refusal { try template("{\n \"aps\": {\"alert\": \"$(a b)\"}}") }
        #expect(error?.code == "template.syntax")
        #expect(error?.status == 400)
        #expect(error?.details["line"] == 2)
    }

    @Test("A name has at most 200 characters") func name() async throws {
        _ = try template(name: String(repeating: "n", count: 200))
        let error = await refusal { try template(name: String(repeating: "n", count: 201)) }
        #expect(error?.code == "template.name")
        #expect(error?.message == "the template name has 201 characters; the limit is 200")
    }

    @Test("APNs, FCM and GCM accept only a JSON object", arguments: [Platform.apns, .fcmV1, .gcm])
    func format(platform: Platform) async throws {
        for body in [Self.toast, #"["$(message)"]"#] {
            let error = await refusal { try template(body, platform) }
            #expect(error?.code == "template.format")
            #expect(error?.message == "a template for \(platform.displayName) is a JSON object")
        }
        _ = try template("\n " + Self.alert, platform)
    }

    @Test(
        "An expiry is a date, 0 or an expression",
        arguments: ["0", "2026-01-31T12:00:00Z", "2026-01-31", "$(expiry)", "{'2026-01-' + $(day)}"])
    func expiry(text: String) throws {
        #expect(try template(expiry: text).expiry == text)
    }

    @Test("Any other expiry is rejected", arguments: ["tomorrow", "1", "", "-0", "{'next' + ' week'}"])
    func badExpiry(text: String) async {
        let error = await refusal { try template(expiry: text) }
        #expect(error?.code == "template.expiry")
        #expect(error?.message.hasSuffix("is neither a date nor 0") == true)
    }

    @Test("A priority is a byte or an expression, as a member or as a header", arguments: ["10", "0", "255", "$(p)"])
    func priority(text: String) throws {
        #expect(try template(priority: text).priority == text)
        _ = try template(headers: [PushHeader("APNS-Priority", text)])
    }

    @Test("Any other priority is rejected", arguments: ["256", "-1", "high", ""])
    func badPriority(text: String) async {
        for error in [
            await refusal { try template(priority: text) },
            await refusal { try template(headers: [PushHeader("apns-priority", text)]) },
        ] {
            #expect(error?.code == "template.priority")
            #expect(error?.message == "the priority \"\(text)\" is not a number from 0 to 255")
        }
    }

    @Test("An APNs template can only have headers of APNs") func headers() async throws {
        _ = try template(headers: [PushHeader("Apns-Collapse-Id", "$(id)")])
        let error = await refusal { try template(headers: [PushHeader("X-WNS-Type", "wns/toast")]) }
        #expect(error?.code == "template.header")
        #expect(error?.message == "\"X-WNS-Type\" is not a header of APNs")
    }

    @Test("Headers are parsed as expressions, and an invalid one is rejected") func headerExpression() async {
        let error = await refusal { try template(headers: [PushHeader("apns-topic", "$(")]) }
        #expect(error?.code == "template.syntax")
    }

    @Test("The type of a WNS template follows from its root") func wnsType() throws {
        #expect(try template(Self.toast, .wns).headers == [PushHeader("X-WNS-Type", "wns/toast")])
        #expect(try template("<Tile/>", .wns).headers == [PushHeader("X-WNS-Type", "wns/tile")])
        #expect(try template(#"{"a":"$(b)"}"#, .wns).headers == [PushHeader("X-WNS-Type", "wns/raw")])
        let own = [PushHeader("x-wns-type", "wns/raw")]
        #expect(try template("<order/>", headers: own, .wns).headers == own)
    }

    @Test("Another root needs the type raw") func wnsRoot() async {
        for headers in [[], [PushHeader("X-WNS-Type", "wns/toast")]] {
            let error = await refusal { try template("<order/>", headers: headers, .wns) }
            #expect(error?.code == "template.format")
            #expect(error?.message == "the root element of a WNS template is toast, tile or badge")
        }
        let error = await refusal { try template(Self.toast, headers: [PushHeader("X-WNS-Type", "toast")], .wns) }
        #expect(error?.code == "template.header")
        #expect(error?.hint == "use one of wns/toast, wns/tile, wns/badge, wns/raw")
    }

    @Test("The class and target of an MPNS template follow from its root's first element") func mpnsHeaders() throws {
        let toast = "<wp:Notification xmlns:wp=\"WPNotification\"><wp:Toast><wp:Text1>$(m)</wp:Text1></wp:Toast></wp:Notification>"
        let tile = "<?xml version=\"1.0\"?><Notification xmlns='WPNotification'> <!-- c --><Tile Id='a'/></Notification>"
        let names = ["X-NotificationClass", "X-WindowsPhone-Target"]
        #expect(try template(toast, .mpns).headers == [PushHeader(names[0], "2"), PushHeader(names[1], "toast")])
        #expect(try template(tile, .mpns).headers == [PushHeader(names[0], "1"), PushHeader(names[1], "token")])
        #expect(try template(#"{"a":"$(b)"}"#, .mpns).headers == [PushHeader(names[0], "3")])
        let late = [PushHeader("x-notificationclass", "12")]
        #expect(try template(toast, headers: late, .mpns).headers == late + [PushHeader(names[1], "toast")])
        let raw = [PushHeader("X-NotificationClass", "3")]
        #expect(try template("<order/>", headers: raw, .mpns).headers == raw)
    }

    @Test(
        "Another MPNS document needs the class of raw ones",
        arguments: [
            "<order/>", "<Notification><Toast/></Notification>", "<Notification xmlns='WPNotification'><Badge/></Notification>",
            "<Notification xmlns='WPNotification'/>",
        ])
    func mpnsRoot(body: String) async {
        for headers in [[], [PushHeader("X-NotificationClass", "2")]] {
            let error = await refusal { try template(body, headers: headers, .mpns) }
            #expect(error?.code == "template.format")
        }
        let error = await refusal { try template(body, headers: [PushHeader("X-NotificationClass", "toast")], .mpns) }
        #expect(error?.code == "template.header" && error?.message == "unknown X-NotificationClass \"toast\"")
    }

    @Test("A byte order mark before the body is removed") func byteOrderMark() throws {
        let marked = try template("\u{FEFF}" + Self.toast, .wns)
        #expect(Array(marked.body.utf8) == Array(Self.toast.utf8))
        #expect(try marked == template(Self.toast, .wns))
    }

    @Test("An expiry can have every date format of a send", arguments: ["11/21/2026 05:28:52", "Sat, 21 Nov 2026 05:28:52 GMT", "0"])
    func expiryForms(text: String) throws {
        #expect(try template(expiry: text).expiry == text)
    }

    @Test("Templates are equal if their content and names are") func equality() throws {
        #expect(try template(name: "a") == template(name: "a"))
        #expect(try template(name: "a") != template(name: "b"))
        #expect(try template(expiry: "0") != template())
        #expect(try template(priority: "5") != template(priority: "10"))
    }
}
