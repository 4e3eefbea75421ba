import HubWire
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct RegistrationRequestTests {
    @Test(
        arguments: [
            (nil, .none), ("", .none), ("*", .exists), ("\"*\"", .exists), ("\"1\"", .version(1)), ("W/\"12\"", .version(12)),
            (" 3 ", .version(3)), ("w/4", .version(4)),
        ] as [(String?, RegistrationCondition)])
    func `a condition is read in the forms that clients write`(text: String?, expected: RegistrationCondition) throws {
        #expect(try RegistrationCondition(ifMatch: text) == expected)
    }

    @Test(arguments: ["abc", "\"\"", "-1", "1, 2", "W/"])
    func `an invalid version fails the condition`(text: String) async {
        let error = await refusal { try RegistrationCondition(ifMatch: text) }
        #expect(error?.code == "hub.precondition_failed" && error?.status == 412)
    }

    @Test func `a query is read in any case, with flags and both kinds of blanks`() {
        let query = RequestQuery(parsing: "api-version=2015-01&direct&Test=&%24Top=5&a=b+c%20d%2Be=f&&x=%zz%4")
        #expect(query["API-Version"] == "2015-01")
        #expect(query.has("direct") && query.has("test") && !query.has("other"))
        #expect(query["$top"] == "5" && query["a"] == "b c d+e=f" && query["x"] == "%zz%4")
        #expect(RequestQuery(parsing: "").items.isEmpty)
    }

    @Test(
        arguments: [
            ("", 100, nil), ("$top=0", 100, nil), ("$top=7", 7, nil), ("$top=2147483647", 100, nil), ("$top=-3", 100, nil),
            ("$top=x", 100, nil), ("$top=5&ContinuationToken=12", 5, "12"), ("continuationtoken=", 100, nil),
        ] as [(String, Int, String?)])
    func `a page has 1 to 100 registrations`(text: String, top: Int, continuation: String?) {
        #expect(RequestQuery(parsing: text).page == Page(top: top, continuation: continuation))
    }

    private func handles(_ query: String) throws -> [DeviceHandle] {
        try ODataFilter(parsing: #require(RequestQuery(parsing: query)["$filter"])).filters.compactMap { filter in
            if case .handle(let handle) = filter { handle } else { nil }
        }
    }

    @Test(
        arguments: [
            "$filter=ChannelUri+eq+%2762bcd348%27", "$filter=deviceToken+eq+'62BCD348'", "%24filter=DeviceToken%20eq%20%2762BCD348%27",
            "$filter=devicetoken EQ '62bcd348",
        ])
    func `a device token is found in upper and lower case`(query: String) throws {
        #expect(try handles(query).contains(.apns(token: "62BCD348")))
    }

    @Test(arguments: ["ChannelUri", "GcmRegistrationId", "FcmV1RegistrationId", "AdmRegistrationId", "FcmRegistrationId"])
    func `a token finds registrations of every kind`(field: String) throws {
        for query in ["$filter=\(field)+eq+'a:b_c'", "$filter=\(field)%20eq%20%27a%253Ab_c%27"] {
            let found = try handles(query)
            #expect(found == [.fcmV1(token: "a:b_c"), .gcm(token: "a:b_c"), .adm(token: "a:b_c"), .xiaomi(token: "a:b_c")])
        }
    }

    @Test(
        arguments: [
            "$filter=ChannelUri+eq+'https%3A%2F%2Fdb.example%2F%3Ftoken%3DAw%252b%253d'",
            "$filter=ChannelUri+eq+'https%253A%252F%252Fdb.example%252F%253Ftoken%253DAw%25252b%25253d'",
        ])
    func `a channel is found when it is encoded once or twice`(query: String) throws {
        #expect(try handles(query).contains(.wns(channel: "https://db.example/?token=Aw%2b%3d")))
    }

    @Test(arguments: ["ChannelUri", "Endpoint"])
    func `a browser is found by its endpoint alone`(field: String) throws {
        let query = RequestQuery(parsing: "$filter=\(field)+eq+'https%3A%2F%2Fpush.example%2Fsend%2F1'")
        #expect(try ODataFilter(parsing: #require(query["$filter"])).filters.last == .endpoint("https://push.example/send/1"))
    }

    @Test func `a dash in either part of a Baidu handle is unchanged`() throws {
        let registration = try RegistrationXMLReader.description(
            body: Array(
                ("<BaiduRegistrationDescription><BaiduUserId>1-2</BaiduUserId><BaiduChannelId>3-4</BaiduChannelId>"
                    + "</BaiduRegistrationDescription>").utf8))
        #expect(registration.handle == .baidu(user: "1-2", channel: "3-4"))
        #expect(try handles("$filter=BaiduUserId+eq+'1-2'+and+BaiduChannelId+eq+'3-4'") == [registration.handle])
    }

    @Test func `handles with several parts are compared part by part`() throws {
        #expect(
            try handles("$filter=BaiduUserId+eq+'12'+and+BaiduChannelId+eq+'34'") == [.baidu(user: "12", channel: "34")])
        #expect(try handles("$filter=BaiduChannelId+eq+'34+and+BaiduUserId+eq+'12'") == [.baidu(user: "12", channel: "34")])
        guard case .browser(let endpoint, let p256dh, let auth) = DeviceHandle.subscription else { return }
        let filter = "Endpoint eq '\(PercentEncoding.encode(endpoint))' and P256DH eq '\(p256dh)' and Auth eq '\(auth)'"
        #expect(try handles("$filter=\(PercentEncoding.encode(filter))") == [.subscription])
    }

    @Test(
        arguments: [
            "ChannelUri", "ChannelUri eq", "ChannelUri eq ''", "ChannelUri ne 'x'", "Colour eq 'x'", "BaiduUserId eq '1'",
            "ChannelUri eq 'é'", " ", "and and and",
        ])
    func `a filter without a handle is refused`(filter: String) async {
        let error = await refusal { try ODataFilter(parsing: filter) }
        #expect(error?.code == "registration.filter" && error?.status == 400)
    }
}
