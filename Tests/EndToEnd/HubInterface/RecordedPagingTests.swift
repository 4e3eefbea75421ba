import PushModel
import Testing

/// Paged lists and conditional writes, as clients request them.
@Suite struct RecordedPagingTests {
    private static let handle = "ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789"

    private func document(_ kind: String, _ member: String) -> String {
        #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><\#(kind)RegistrationDescription "#
            + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><\#(member)>\#(Self.handle)</\#(member)>"#
            + "</\(kind)RegistrationDescription></content></entry>"
    }

    @Test func `the registrations of one handle on several platforms are listed in pages, each once`() async throws {
        try await ServedHub.serving { hub in
            for (kind, member) in [("Apple", "DeviceToken"), ("Gcm", "GcmRegistrationId"), ("FcmV1", "FcmV1RegistrationId")] {
                for _ in 0..<3 { #expect(try await hub.call("POST", "/hub/registrations", body: document(kind, member)).status == 200) }
            }
            for top in [1, 2, 3, 4, 9, 100] {
                var (found, token, pages) = ([String](), String?.some(""), 0)
                while let next = token {
                    let continuation = next.isEmpty ? "" : "&continuationtoken=\(next)"
                    let path = "/hub/registrations?$top=\(top)&$filter=ChannelUri%20eq%20'\(Self.handle)'\(continuation)"
                    let page = try await hub.call("GET", path)
                    #expect(page.status == 200)
                    let ids = page.body.matches(of: /<RegistrationId>([^<]+)</).map { String($0.1) }
                    #expect(ids.count <= top)
                    found += ids
                    token = page["x-ms-continuationtoken"]
                    pages += 1
                    try #require(pages <= 10)
                }
                #expect(found.count == 9 && Set(found).count == 9, "\(top)")
                // No page is empty.
                #expect(pages == (9 + top - 1) / top, "\(top)")
            }
            for token in ["x", "7-1", "0-x", "-1-1"] {
                let path = "/hub/registrations?$filter=ChannelUri%20eq%20'\(Self.handle)'&continuationtoken=\(token)"
                #expect(try await hub.call("GET", path).status == 400, "\(token)")
            }
        }
    }

    @Test func `a deleted registration is gone under any If-Match`() async throws {
        try await ServedHub.serving { hub in
            let made = try await hub.call("POST", "/hub/registrations", body: document("Apple", "DeviceToken"))
            let id = try #require(made.body.firstMatch(of: /<RegistrationId>([^<]+)</)).1
            let path = "/hub/registrations/\(id)"
            #expect(try await hub.call("PUT", path, ["If-Match": "*"], body: document("Apple", "DeviceToken")).status == 200)
            #expect(try await hub.call("DELETE", path, ["If-Match": "*"]).status == 200)
            for condition in ["*", "1", "W/\"1\""] {
                let gone = try await hub.call("PUT", path, ["If-Match": condition], body: document("Apple", "DeviceToken"))
                #expect(gone.status == 410, "\(condition)")
            }
            #expect(try await hub.call("PUT", path, body: document("Apple", "DeviceToken")).status == 410)
            // An unknown registration is 404, not 410.
            let never = try await hub.call("PUT", "/hub/registrations/1-2-3", ["If-Match": "*"], body: document("Apple", "DeviceToken"))
            #expect(never.status == 404)
        }
    }
}
