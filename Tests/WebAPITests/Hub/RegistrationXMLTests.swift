import HubWire
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct RegistrationXMLTests {
    private static let token = "62BCD3484834B7E2DC56733AC5509259230CC1BA82BA1AE7D06E91908A05A8FA"
    private static let namespaces =
        #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance""#
    private static let p256dh = "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM"
    private static let auth = "tBHItJI5svbpez7KI4CCXg"
    private static let toast = "<toast><visual><binding><text>$(message)</text></binding></visual></toast>"
    private static let phoneToast =
        #"<wp:Notification xmlns:wp="WPNotification"><wp:Toast><wp:Text1>$(message)</wp:Text1></wp:Toast></wp:Notification>"#

    private func read(_ text: String) throws(PushError) -> RegistrationDescription {
        try RegistrationXMLReader.description(body: Array(text.utf8))
    }

    private func written(
        _ description: RegistrationDescription, _ form: RegistrationXML.ExpirationForm = .local
    ) throws -> String {
        let registration = Registration(
            id: try #require(RegistrationID("1-2-3")), etag: 1, expiration: .distantFuture, updatedAt: HubBench.startTime,
            description: RegistrationDescription(
                handle: description.handle, tags: description.tags, template: description.template,
                pushVariables: description.pushVariables, secondaryTile: description.secondaryTile))
        var writer = XMLWriter()
        RegistrationXML.write(registration, into: &writer, expiration: form)
        return writer.text
    }

    @Test func `an Apple template registration is returned as the service does`() throws {
        let description = RegistrationDescription(
            handle: .apns(token: Self.token), tags: [try Tag("tag1")],
            template: try RegistrationTemplate(name: "Template Name", body: #"{"aps":{"alert":"alert!"}}"#, platform: .apns),
            pushVariables: ["var1": "value1"])
        let inside =
            "<AppleTemplateRegistrationDescription \(Self.namespaces)><ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999</ExpirationTime>"
            + "<RegistrationId>1-2-3</RegistrationId><Tags>tag1</Tags><PushVariables>{\"var1\":\"value1\"}</PushVariables>"
            + "<DeviceToken>\(Self.token)</DeviceToken><BodyTemplate><![CDATA[{\"aps\":{\"alert\":\"alert!\"}}]]></BodyTemplate>"
            + "<Expiry i:nil=\"true\"/><TemplateName>Template Name</TemplateName><ApnsHeaders/></AppleTemplateRegistrationDescription>"
        #expect(try written(description) == inside)
        let registration = Registration(
            id: try #require(RegistrationID("1-2-3")), etag: 1, expiration: .distantFuture, updatedAt: HubBench.startTime,
            description: RegistrationDescription(
                handle: description.handle, tags: description.tags, template: description.template, pushVariables: description.pushVariables
            ))
        let link = "https://ns/hub/registrations/1-2-3?api-version=2017-04"
        let bytes = RegistrationXML.document(registration, at: link, now: HubBench.startTime, expiration: .local)
        let around =
            #"<entry a:etag="W/&quot;1&quot;" xmlns="http://www.w3.org/2005/Atom" "#
            + #"xmlns:a="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><id>"# + link
            + #"</id><title type="text">1-2-3</title><published>2026-01-05T09:00:00Z</published>"#
            + #"<updated>2026-01-05T09:00:00Z</updated><link rel="self" href=""# + link
            + #""/><content type="application/xml">"#
        #expect(String(decoding: bytes, as: UTF8.self) == around + inside + "</content></entry>")
        #expect(RegistrationXML.entityTag(of: registration) == "W/\"1\"")
    }

    @Test func `a list has one entry per registration, with Z at the end of times`() throws {
        let id = try #require(RegistrationID("1-2-3"))
        let registration = Registration(
            id: id, etag: 4, expiration: .distantFuture, updatedAt: HubBench.startTime,
            description: RegistrationDescription(handle: .apns(token: Self.token), tags: []))
        let page = RegistrationPage(registrations: [registration], continuation: nil)
        let bytes = RegistrationXML.document(page, at: "https://ns/hub/registrations?$top=1", now: HubBench.startTime) {
            "https://ns/\($0)"
        }
        let text =
            #"<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Registrations</title>"#
            + #"<id>https://ns/hub/registrations?$top=1</id><updated>2026-01-05T09:00:00Z</updated>"#
            + #"<link rel="self" href="https://ns/hub/registrations?$top=1"/>"#
            + #"<entry a:etag="W/&quot;4&quot;" xmlns:a="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">"#
            + #"<id>https://ns/1-2-3</id><title type="text">1-2-3</title><published>2026-01-05T09:00:00Z</published>"#
            + #"<updated>2026-01-05T09:00:00Z</updated><link rel="self" href="https://ns/1-2-3"/><content type="application/xml">"#
            + "<AppleRegistrationDescription \(Self.namespaces)><ETag>4</ETag><ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime>"
            + "<RegistrationId>1-2-3</RegistrationId><DeviceToken>\(Self.token)</DeviceToken></AppleRegistrationDescription>"
            + "</content></entry></feed>"
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    /// The members of a request, and of the answer after the members common to all registrations.
    private static let kinds: [(stem: String, handle: String)] = [
        ("Apple", "<DeviceToken>\(token)</DeviceToken>"), ("Gcm", "<GcmRegistrationId>a:b-c_d</GcmRegistrationId>"),
        ("FcmV1", "<FcmV1RegistrationId>a:b-c_d</FcmV1RegistrationId>"),
        ("Windows", "<ChannelUri>https://some.url/?a=1&amp;b=2</ChannelUri><SecondaryTileName>Tile name</SecondaryTileName>"),
        ("Mpns", "<ChannelUri>http://some.url/</ChannelUri>"), ("Adm", "<AdmRegistrationId>amzn1.adm</AdmRegistrationId>"),
        ("Baidu", "<BaiduUserId>12</BaiduUserId><BaiduChannelId>34</BaiduChannelId>"),
        ("Browser", "<Endpoint>https://push.example/1</Endpoint><P256DH>\(p256dh)</P256DH><Auth>\(auth)</Auth>"),
        ("Xiaomi", "<XiaomiRegistrationId>abc</XiaomiRegistrationId>"),
    ]

    private static let head =
        "<ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999Z</ExpirationTime><RegistrationId>1-2-3</RegistrationId>"

    @Test(arguments: kinds)
    func `a native registration is returned as it was sent`(stem: String, handle: String) throws {
        let text = "<\(stem)RegistrationDescription \(Self.namespaces)>\(Self.head)\(handle)</\(stem)RegistrationDescription>"
        #expect(try written(read(text), .zoned) == text)
        #expect(try read("<entry><content type='text/xml'>\n\(text)</content></entry>") == read(text))
    }

    @Test(arguments: kinds)
    func `a template registration is returned with its members in order`(stem: String, handle: String) throws {
        let json = #"<BodyTemplate><![CDATA[{"a":"$(b)"}]]></BodyTemplate>"#
        let template =
            switch stem {
            case "Apple":
                json + "<Expiry>0</Expiry><TemplateName>t</TemplateName><Priority>5</Priority><ApnsHeaders><ApnsHeader>"
                    + "<Header>apns-topic</Header><Value>com.example</Value></ApnsHeader></ApnsHeaders>"
            case "Baidu": json + "<TemplateName>t</TemplateName><MessageType>1</MessageType>"
            case "Windows":
                "<BodyTemplate><![CDATA[\(Self.toast)]]></BodyTemplate><WnsHeaders><WnsHeader><Header>X-WNS-Type</Header>"
                    + "<Value>wns/toast</Value></WnsHeader></WnsHeaders><TemplateName>t</TemplateName>"
            case "Mpns":
                "<BodyTemplate><![CDATA[\(Self.phoneToast)]]></BodyTemplate><MpnsHeaders><MpnsHeader>"
                    + "<Header>X-NotificationClass</Header><Value>2</Value></MpnsHeader><MpnsHeader><Header>X-WindowsPhone-Target</Header>"
                    + "<Value>toast</Value></MpnsHeader></MpnsHeaders><TemplateName>t</TemplateName>"
            default: json + #"<TemplateName i:nil="true"/>"#
            }
        let name = "\(stem)TemplateRegistrationDescription"
        let text = "<\(name) \(Self.namespaces)>\(Self.head)<Tags>a,b</Tags>\(handle)\(template)</\(name)>"
        #expect(try written(read(text), .zoned) == text)
    }

    @Test func `the order and the wrapping of a request do not matter`() throws {
        let plain = try read(
            "<AppleRegistrationDescription><Tags> a , b,</Tags><DeviceToken>\(Self.token)</DeviceToken></AppleRegistrationDescription>")
        #expect(plain == RegistrationDescription(handle: .apns(token: Self.token), tags: [try Tag("a"), try Tag("b")]))
        let wrapped = try read(
            """
            \u{FEFF}<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\
            <RegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="AppleRegistrationDescription" \
            xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><ETag i:nil="true"/>\
            <ExpirationTime i:nil="true"/><RegistrationId>1-2-3</RegistrationId><Tags>a,b</Tags><PushVariables i:nil="true"/>\
            <DeviceToken>\(Self.token.lowercased())</DeviceToken></RegistrationDescription></content></entry>
            """)
        #expect(wrapped == plain)
        let browser = try read(
            "<BrowserRegistrationDescription><Endpoint>https://push.example/1</Endpoint><Auth>\(Self.auth)</Auth>"
                + "<P256DH>\(Self.p256dh)</P256DH></BrowserRegistrationDescription>")
        #expect(browser.handle == .browser(endpoint: "https://push.example/1", p256dh: Self.p256dh, auth: Self.auth))
        let baidu = try read(
            "<BaiduRegistrationDescription><BaiduChannelId>34</BaiduChannelId><BaiduUserId>12</BaiduUserId></BaiduRegistrationDescription>")
        #expect(baidu.handle == .baidu(user: "12", channel: "34"))
    }

    @Test func `requests of the tutorials' clients are read`() throws {
        let template = try read(
            "<entry><content type=\"text/xml\"><AppleTemplateRegistrationDescription><Tags>World</Tags><DeviceToken>\(Self.token)</DeviceToken>"
                + "<BodyTemplate><![CDATA[{\"aps\":{\"alert\":\"$(messageParam)\"}}]]></BodyTemplate><Expiry>0</Expiry>"
                + "<TemplateName>simpleAPNSTemplate</TemplateName></AppleTemplateRegistrationDescription></content></entry>")
        #expect(template.template?.expiry == "0" && template.template?.name == "simpleAPNSTemplate")
        let alias = "<FcmRegistrationDescription><FcmRegistrationId>a:b</FcmRegistrationId></FcmRegistrationDescription>"
        #expect(try read(alias).handle == .gcm(token: "a:b"))
    }

    @Test func `push variables are a JSON object whose values become texts`() throws {
        func variables(_ text: String) throws(PushError) -> [String: String] {
            try read(
                "<GcmRegistrationDescription><GcmRegistrationId>x</GcmRegistrationId><PushVariables>\(text)</PushVariables></GcmRegistrationDescription>"
            ).pushVariables
        }
        #expect(try variables(#"{"a":"1","b":2,"c":true}"#) == ["a": "1", "b": "2", "c": "true"])
        #expect(try variables("").isEmpty)
        #expect(throws: PushError.self) { try variables("[1]") }
    }

    @Test(
        arguments: [
            ("<AppleDescription/>", "registration.invalid"), ("<RegistrationDescription/>", "registration.invalid"),
            ("<NokiaRegistrationDescription/>", "registration.invalid"), ("<AppleRegistrationDescription/>", "registration.invalid"),
            ("<AppleRegistrationDescription><DeviceToken>xyz</DeviceToken></AppleRegistrationDescription>", "handle.invalid"),
            (
                "<GcmRegistrationDescription><GcmRegistrationId>x</GcmRegistrationId><Tags>a b</Tags></GcmRegistrationDescription>",
                "tag.invalid"
            ),
            (
                "<GcmTemplateRegistrationDescription><GcmRegistrationId>x</GcmRegistrationId></GcmTemplateRegistrationDescription>",
                "registration.invalid"
            ),
            (
                "<GcmTemplateRegistrationDescription><GcmRegistrationId>x</GcmRegistrationId><BodyTemplate>x</BodyTemplate></GcmTemplateRegistrationDescription>",
                "template.format"
            ),
            ("<entry><content>", "xml.invalid"), ("not XML", "xml.invalid"), ("", "xml.invalid"),
        ])
    func `an invalid registration is refused with 400`(text: String, code: String) async {
        let error = await refusal { try read(text) }
        #expect(error?.code == code && error?.status == 400)
    }

    @Test func `a body over 256 KiB is refused before it is parsed`() async {
        let error = await refusal { try read(String(repeating: " ", count: 256 << 10) + "<a/>") }
        #expect(error?.code == "xml.too_large" && error?.status == 413)
    }
}
