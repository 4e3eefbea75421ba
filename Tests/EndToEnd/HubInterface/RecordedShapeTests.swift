import Foundation
import PushModel
import Testing

/// Registrations on the wire, in the formats that Azure's clients send and parse.
@Suite struct RecordedShapeTests {
    private static let token = String(repeating: "AB", count: 32)

    /// A description as .NET writes it: the general element name, with the kind in `i:type`.
    private static func general(_ kind: String, _ members: String) -> String {
        #"<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">"#
            + #"<RegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="\#(kind)" "#
            + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\#(members)"#
            + "</RegistrationDescription></content></entry>"
    }

    /// A description as the iOS and Android clients write it.
    private static func concrete(_ kind: String, _ members: String) -> String {
        #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="text/xml">"#
            + #"<\#(kind) xmlns:i="http://www.w3.org/2001/XMLSchema-instance" "#
            + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\#(members)</\#(kind)></content></entry>"#
    }

    private static func apple(_ token: String = token, tags: String = "") -> String {
        concrete("AppleRegistrationDescription", "\(tags)<DeviceToken>\(token)</DeviceToken>")
    }

    /// The recorded response, with `NOW` for the time.
    private static func entry(_ link: String, _ id: String, etag: Int, _ kind: String, _ members: String) -> String {
        #"<entry a:etag="W/&quot;\#(etag)&quot;" xmlns="http://www.w3.org/2005/Atom" "#
            + #"xmlns:a="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><id>\#(link)</id>"#
            + #"<title type="text">\#(id)</title><published>NOW</published><updated>NOW</updated><link rel="self" href="\#(link)"/>"#
            + #"<content type="application/xml"><\#(kind) "#
            + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" "#
            + #"xmlns:i="http://www.w3.org/2001/XMLSchema-instance">\#(members)</\#(kind)></content></entry>"#
    }

    private func id(_ answer: WireAnswer) throws -> String {
        String(try #require(answer.body.firstMatch(of: /<RegistrationId>([^<]+)</)).1)
    }

    @Test func `a registration with .NET's general element is answered with its own element and ordered members`() async throws {
        try await ServedHub.serving { hub in
            let body = Self.general(
                "AppleRegistrationDescription", "<Tags>a, b</Tags><DeviceToken>\(Self.token.lowercased())</DeviceToken>")
            let type = "application/atom+xml;type=entry;charset=utf-8"
            let created = try await hub.call(
                "POST", "/hub/registrations?api-version=2020-06", ["Content-Type": type, "x-ms-version": "2020-06"], body: body,
                by: .listen)
            #expect(created.status == 200)
            let id = try id(created)
            #expect(id.wholeMatch(of: /\d{1,19}-\d{1,19}-\d+/) != nil)
            let link = "http://localhost:\(hub.port)/hub/registrations/\(id)?api-version=2020-06"
            #expect(
                created.masked
                    == Self.entry(
                        link, id, etag: 1, "AppleRegistrationDescription",
                        "<ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999</ExpirationTime><RegistrationId>\(id)</RegistrationId>"
                            + "<Tags>a,b</Tags><DeviceToken>\(Self.token)</DeviceToken>"))
            #expect(created["Content-Type"] == "application/atom+xml;type=entry;charset=utf-8")
            #expect(created["ETag"] == "W/\"1\"")
            #expect(created["Content-Location"] == link)
            #expect(created["Location"] == nil)

            let read = try await hub.call("GET", "/hub/registrations/\(id)?api-version=2020-06", by: .listen)
            #expect(read.status == 200)
            #expect(
                read.masked == created.masked.replacing("59.999</Exp", with: "59.999Z</Exp"), "what is read names the zone")
        }
    }

    @Test func `the iOS client creates an id, registers a template with it, and finds it by its token`() async throws {
        try await ServedHub.serving { hub in
            let created = try await hub.call("POST", "/hub/registrationids/?api-version=2013-04", by: .listen)
            #expect(created.status == 201)
            #expect(created.body.isEmpty)
            let location = try #require(created["Location"])
            let parts = try #require(
                location.wholeMatch(of: /http:\/\/localhost:(\d+)\/hub\/registrationids\/([0-9-]+)\?api-version=2013-04/))
            let id = String(parts.2)
            let body = Self.concrete(
                "AppleTemplateRegistrationDescription",
                "<Tags>World</Tags><DeviceToken>\(Self.token)</DeviceToken>"
                    + #"<BodyTemplate><![CDATA[{"aps":{"alert":"$(messageParam)"}}]]></BodyTemplate><Expiry>0</Expiry>"#
                    + "<TemplateName>simpleAPNSTemplate</TemplateName>")
            let put = try await hub.call(
                "PUT", "/hub/Registrations/\(id)?api-version=2013-04", ["Content-Type": "application/xml"], body: body, by: .listen)
            #expect(put.status == 200)
            let members =
                "<ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999</ExpirationTime><RegistrationId>\(id)</RegistrationId>"
                + "<Tags>World</Tags><DeviceToken>\(Self.token)</DeviceToken>"
                + #"<BodyTemplate><![CDATA[{"aps":{"alert":"$(messageParam)"}}]]></BodyTemplate><Expiry>0</Expiry>"#
                + "<TemplateName>simpleAPNSTemplate</TemplateName><ApnsHeaders/>"
            #expect(
                put.masked
                    == Self.entry(
                        "http://localhost:\(hub.port)/hub/Registrations/\(id)?api-version=2013-04", id, etag: 1,
                        "AppleTemplateRegistrationDescription", members))
            let found = try await hub.call(
                "GET", "/hub/Registrations/?$filter=deviceToken+eq+'\(Self.token.lowercased())'&api-version=2013-04", by: .listen)
            #expect(found.status == 200)
            #expect(found["Content-Type"] == "application/atom+xml;type=feed;charset=utf-8")
            #expect(found["x-ms-continuationtoken"] == nil)
            #expect(try self.id(found) == id)
            #expect(found.body.contains("<feed xmlns=\"http://www.w3.org/2005/Atom\"><title type=\"text\">Registrations</title><id>"))
        }
    }

    @Test func `paths are case-insensitive, may end with slashes, and appear in the response as requested`() async throws {
        try await ServedHub.serving { hub in
            for (path, version) in [
                ("/hub/registrationIDs/", "2013-08"), ("/hub/RegistrationIds", "2020-06"), ("/HUB/REGISTRATIONIDS//", "x%20y"),
            ] {
                let answer = try await hub.call("POST", "\(path)?api-version=\(version)")
                #expect(answer.status == 201)
                let start = "http://localhost:\(hub.port)\(path.replacing(/\/+$/, with: ""))/"
                #expect(answer["Location"]?.hasPrefix(start) == true)
                #expect(answer["Location"]?.hasSuffix("?api-version=\(version)") == true)
            }
            let absent = try await hub.call("POST", "/hub/registrationids")
            #expect(absent["Location"]?.hasSuffix("?api-version=2020-06") == true)
        }
    }

    @Test func `If-Match is read in every notation and enforced`() async throws {
        try await ServedHub.serving { hub in
            let path = "/hub/registrations/123-234-1?api-version=2020-06"
            func put(_ ifMatch: String?) async throws -> WireAnswer {
                guard let ifMatch else { return try await hub.call("PUT", path, body: Self.apple()) }
                return try await hub.call("PUT", path, ["If-Match": ifMatch], body: Self.apple())
            }
            #expect(try await put("*").status == 404)
            #expect(try await put("\"1\"").status == 404)
            #expect(try await put(nil).status == 200, "an id that was never given out, as it was recorded")
            for (index, form) in ["\"1\"", "W/\"2\"", "3", "*"].enumerated() {
                let answer = try await put(form)
                #expect(answer.status == 200, "\(form)")
                #expect(answer["ETag"] == "W/\"\(index + 2)\"")
            }
            for stale in ["\"1\"", "W/\"4\"", "none"] { #expect(try await put(stale).status == 412, "\(stale)") }
            #expect(try await hub.call("DELETE", path, ["If-Match": "W/\"1\""]).status == 412)
            let deleted = try await hub.call("DELETE", path, ["If-Match": "*"])
            #expect(deleted.status == 200)
            #expect(deleted["Content-Length"] == "0")
            #expect(try await hub.call("DELETE", path).status == 404, "without If-Match it is *")
            #expect(try await hub.call("GET", path).status == 404)
            let gone = try await put(nil)
            #expect(gone.status == 410, "the client is to ask for a new id")
            #expect(gone["Content-Type"] == "application/xml; charset=utf-8")
            #expect(gone.body.hasPrefix("<Error><Code>410</Code><Detail>"))
            #expect(
                try await hub.call("PUT", "/hub/registrations/mine?api-version=2020-06", body: Self.apple()).status == 410,
                "no id of any hub")
        }
    }

    @Test func `lists are paged, and the continuation header needs no encoding`() async throws {
        try await ServedHub.serving { hub in
            for number in 1...5 {
                let token = String(repeating: "0\(number)", count: 32)
                let tags = "<Tags>\(number < 4 ? "few" : "other")</Tags>"
                #expect(try await hub.call("POST", "/hub/registrations", body: Self.apple(token, tags: tags)).status == 200)
            }
            var (path, seen, pages) = ("/hub/registrations?$top=2&api-version=2020-06", [String](), 0)
            while true {
                let page = try await hub.call("GET", path)
                #expect(page.status == 200)
                seen += page.body.matches(of: /<DeviceToken>([^<]+)</).map { String($0.1.suffix(1)) }
                pages += 1
                guard let continuation = page["x-ms-continuationtoken"] else { break }
                #expect(continuation.wholeMatch(of: /[A-Za-z0-9._~-]+/) != nil)
                path = "/hub/registrations?api-version=2020-06&ContinuationToken=\(continuation)&$top=2"
            }
            #expect(seen == ["1", "2", "3", "4", "5"])
            #expect(pages == 3)
            for top in ["0", "100", "1000"] {
                let all = try await hub.call("GET", "/hub/registrations?$top=\(top)")
                #expect(all["x-ms-continuationtoken"] == nil, "everything fitted")
                #expect(all.body.matches(of: /<entry/).count == 5)
            }
            let exact = try await hub.call("GET", "/hub/tags/FEW/registrations/?$top=3")
            #expect(exact.body.matches(of: /<entry/).count == 3)
            #expect(exact["x-ms-continuationtoken"] == nil)
            #expect(try await hub.call("GET", "/hub/registrations", by: .listen).status == 401)
        }
    }

    @Test func `the filter of a list finds a handle by every property name that clients use`() async throws {
        try await ServedHub.serving { hub in
            let channel = "https://db5.notify.windows.com/?token=AwYAAA%2b1"
            let endpoint = "https://fcm.googleapis.com/fcm/send/a:b"
            let (p256dh, auth) = ("B" + String(repeating: "A", count: 86), String(repeating: "c", count: 21) + "A")
            for body in [
                Self.apple(),
                Self.concrete("GcmRegistrationDescription", "<GcmRegistrationId>g:1</GcmRegistrationId>"),
                Self.concrete("FcmV1RegistrationDescription", "<FcmV1RegistrationId>f:1</FcmV1RegistrationId>"),
                Self.concrete("WindowsRegistrationDescription", "<ChannelUri>\(channel)</ChannelUri>"),
                Self.concrete(
                    "BaiduRegistrationDescription",
                    "<BaiduChannelId>chan</BaiduChannelId><BaiduUserId>user</BaiduUserId>"),
                Self.concrete(
                    "BrowserRegistrationDescription", "<Endpoint>\(endpoint)</Endpoint><Auth>\(auth)</Auth><P256DH>\(p256dh)</P256DH>"),
            ] { #expect(try await hub.call("POST", "/hub/registrations", body: body).status == 200) }
            func encoded(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
            let once = encoded("ChannelUri eq '\(channel)'")
            for (filter, member) in [
                ("ChannelUri%20eq%20'\(Self.token)'", "AppleReg"), ("DeviceToken+eq+%27\(Self.token.lowercased())%27", "AppleReg"),
                ("ChannelUri+eq+'g%3A1'", "GcmReg"), ("GcmRegistrationId+eq+'g:1'", "GcmReg"),
                ("FcmV1RegistrationId%20eq%20%27f%3a1%27", "FcmV1Reg"), (once, "WindowsReg"),
                ("ChannelUri%20eq%20'\(encoded(encoded(channel)))'", "WindowsReg"),
                ("BaiduUserId+eq+'user'+and+BaiduChannelId+eq+'chan'", "BaiduReg"),
                ("BaiduUserId+eq+'user'+and+BaiduChannelId+eq+'chan", "BaiduReg"),
                ("Endpoint+eq+'\(encoded(endpoint))'+and+P256DH+eq+'\(p256dh)'+and+Auth+eq+'\(auth)'", "BrowserReg"),
                ("Endpoint+eq+'\(encoded(encoded(endpoint)))'+and+P256DH+eq+'\(p256dh)'+and+Auth+eq+'\(auth)'", "BrowserReg"),
            ] {
                let found = try await hub.call("GET", "/hub/registrations?api-version=2020-06&$filter=\(filter)", by: .listen)
                #expect(found.status == 200)
                #expect(found.body.matches(of: /<entry/).count == 1, "\(filter)")
                #expect(found.body.contains("<\(member)istrationDescription "), "\(filter)")
            }
            let none = try await hub.call("GET", "/hub/registrations?$filter=ChannelUri+eq+'ABCD'")
            #expect(none.status == 200)
            #expect(!none.body.contains("<entry"))
            #expect(try await hub.call("GET", "/hub/registrations?$filter=Colour+eq+'red'").status == 400)
        }
    }
}

extension WireAnswer {
    /// The body with `NOW` for the times of an entry and `TIME` for those of a notification.
    var masked: String {
        body.replacing(/<(published|updated)>[^<]+</) { "<\($0.1)>NOW<" }
            .replacing(/<((?:Enqueue|Start|End)Time)>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z</) { "<\($0.1)>TIME<" }
    }
}
