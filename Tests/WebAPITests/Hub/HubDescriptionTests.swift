import HubWire
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct HubDescriptionTests {
    private static let key = "c7yeaUlAidsreGWOfK7LQUC/SZEz54J72mYGx5oK2Vg="
    private static let head =
        #"<NotificationHubDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">"#

    private static func rule(
        _ rights: String, name: String = "r", keys: String = "<PrimaryKey>\(key)</PrimaryKey><SecondaryKey>\(key)</SecondaryKey>"
    ) -> String {
        #"<AuthorizationRule i:type="SharedAccessAuthorizationRule"><ClaimType>SharedAccessKey</ClaimType><ClaimValue>None</ClaimValue><Rights>"#
            + rights + "</Rights><CreatedTime>2026-01-05T09:00:00.000Z</CreatedTime><ModifiedTime>2026-01-05T09:00:00.000Z</ModifiedTime>"
            + "<KeyName>\(name)</KeyName>\(keys)</AuthorizationRule>"
    }

    private static func credential(_ name: String, _ property: String) -> String {
        "<\(name)Credential><Properties><Property><Name>\(property)</Name><Value>a&lt;b</Value></Property></Properties></\(name)Credential>"
    }

    private func read(_ inside: String) throws(PushError) -> HubDescription {
        let body = Array((Self.head + inside + "</NotificationHubDescription>").utf8)
        return try HubDescriptionXML(body: body, now: HubBench.startTime, random: SeededRandom(seed: 1)).hub
    }

    private func written(_ hub: HubDescription) -> String {
        var writer = XMLWriter()
        HubDescriptionXML(hub).write(into: &writer)
        return writer.text
    }

    @Test func `a description has its members in the order that .NET reads`() throws {
        let inside =
            Self.credential("Apns", "Token") + "<RegistrationTtl>P90D</RegistrationTtl>" + Self.credential("Wns", "PackageSid")
            + "<AuthorizationRules>"
            + Self.rule("<AccessRights>Listen</AccessRights><AccessRights>Manage</AccessRights><AccessRights>Send</AccessRights>")
            + "</AuthorizationRules>" + Self.credential("Gcm", "GoogleApiKey") + Self.credential("Mpns", "MpnsCertificate")
            + "<DailyOperations>10</DailyOperations><DailyMaxActiveDevices>20</DailyMaxActiveDevices>"
            + "<DailyMaxActiveRegistrations>30</DailyMaxActiveRegistrations><UserMetadata>m</UserMetadata>"
            + Self.credential("Adm", "ClientId") + Self.credential("Baidu", "BaiduApiKey")
            + Self.credential("FcmV1", "PrivateKey") + Self.credential("Browser", "Subject")
        let hub = try read(inside)
        #expect(hub.credentials.count == 8 && hub.credentials[.fcmV1]?["privatekey"]?.reveal() == "a<b")
        #expect(written(hub) == Self.head + inside + "</NotificationHubDescription>")
    }

    @Test func `the entry of a hub equals the recorded one`() throws {
        let hub = HubRecord(
            number: 1, name: "hub", description: HubDescription(), createdAt: HubBench.startTime, updatedAt: HubBench.startTime)
        let text =
            #"<entry xmlns="http://www.w3.org/2005/Atom"><id>https://ns/hub?a=1</id><title type="text">hub</title>"#
            + "<published>2026-01-05T09:00:00Z</published><updated>2026-01-05T09:00:00Z</updated><author><name>ns</name></author>"
            + #"<link rel="self" href="https://ns/hub?a=1"/><content type="application/xml">"# + Self.head
            + "<RegistrationTtl>P10675199DT2H48M5.4775807S</RegistrationTtl><AuthorizationRules/></NotificationHubDescription></content></entry>"
        #expect(String(decoding: HubEntry(hub).document(at: "https://ns/hub?a=1", author: "ns"), as: UTF8.self) == text)
    }

    @Test(arguments: ["null", "", "  \n "], PlatformCredential.Kind.allCases)
    func `the values that clients write for an unset property count as absent`(nothing: String, kind: PlatformCredential.Kind) throws {
        func property(_ name: String, _ value: String) -> String { "<Property><Name>\(name)</Name><Value>\(value)</Value></Property>" }
        let some = try read(
            "<\(kind.rawValue)Credential><Properties>\(property("First", nothing))\(property("Second", "null and void"))"
                + "\(property("Third", nothing))</Properties></\(kind.rawValue)Credential>")
        let credential = try #require(some.credentials[kind])
        #expect(credential.properties.map(\.name) == ["Second"] && credential["first"] == nil && !credential.isEmpty)
        #expect(!written(some).contains("First"))
        let none = try read(
            "<\(kind.rawValue)Credential><Properties>\(property("First", nothing))</Properties></\(kind.rawValue)Credential>")
        #expect(none.credentials[kind]?.isEmpty == true)
    }

    @Test func `a rule without keys gets new ones`() throws {
        let rule = try #require(
            try read("<AuthorizationRules>" + Self.rule("<AccessRights>Send</AccessRights>", keys: "") + "</AuthorizationRules>").rules
                .first)
        #expect(rule.rights == [.send] && rule.createdAt == HubBench.startTime)
        for key in [rule.primaryKey, rule.secondaryKey] { #expect(key.reveal().wholeMatch(of: /[A-Za-z0-9+\/]{43}=/) != nil) }
        #expect(rule.primaryKey != rule.secondaryKey)
    }

    @Test(
        arguments: [
            ("P90D", .seconds(90 * 86_400)), ("P1D", .seconds(86_400)), ("P1Y2M3D", .seconds((365 + 60 + 3) * 86_400)),
            ("P1DT2H3M4.5S", .milliseconds(93_784_500)), ("PT48H", .seconds(2 * 86_400)), ("P1DT0.25S", .milliseconds(86_400_250)),
            ("P10675199DT2H48M5.4775807S", nil), ("P99999999999999999999D", nil), ("P30000Y", nil),
        ] as [(String, Duration?)])
    func `a time to live is an ISO 8601 duration`(text: String, expected: Duration?) throws {
        #expect(TimeToLive.parse(text) == .some(expected))
        #expect(try read("<RegistrationTtl>\(text)</RegistrationTtl>").registrationTTL == expected)
        let again = TimeToLive.text(expected)
        #expect(TimeToLive.parse(again) == .some(expected))
    }

    @Test func `a time to live is written as by .NET`() {
        #expect(TimeToLive.text(.seconds(90 * 86_400)) == "P90D")
        #expect(TimeToLive.text(.milliseconds(93_784_500)) == "P1DT2H3M4.5S")
        #expect(TimeToLive.text(.seconds(86_401)) == "P1DT1S")
    }

    @Test(arguments: ["", "P", "PT", "P1DT", "-P1D", "P1H", "1D", "P1.5D", "PT1.S", "P1S", "p90d"])
    func `other texts are not durations`(text: String) {
        #expect(TimeToLive.parse(text) == nil)
    }

    @Test(
        arguments: [
            "<RegistrationTtl>PT23H</RegistrationTtl>", "<RegistrationTtl>soon</RegistrationTtl>",
            "<AuthorizationRules>" + rule("") + "</AuthorizationRules>",
            "<AuthorizationRules>" + rule("<AccessRights>Own</AccessRights>") + "</AuthorizationRules>",
            "<AuthorizationRules>" + rule("<AccessRights>Send</AccessRights>", name: "") + "</AuthorizationRules>",
            "<AuthorizationRules>" + rule("<AccessRights>Send</AccessRights>", keys: "<PrimaryKey>short</PrimaryKey>")
                + "</AuthorizationRules>",
            "<AuthorizationRules>" + rule("<AccessRights>Send</AccessRights>") + rule("<AccessRights>Send</AccessRights>")
                + "</AuthorizationRules>", "<DailyOperations>many</DailyOperations>",
            "<UserMetadata>" + String(repeating: "x", count: 1025) + "</UserMetadata>",
        ])
    func `an invalid description is refused`(inside: String) async {
        let error = await refusal { try read(inside) }
        #expect(error?.code == "hub.description" && error?.status == 400)
    }

    @Test func `a document of another kind is refused`() async {
        let error = await refusal {
            try HubDescriptionXML(body: Array("<a/>".utf8), now: HubBench.startTime, random: SeededRandom(seed: 1))
        }
        #expect(error?.code == "hub.description")
    }
}
