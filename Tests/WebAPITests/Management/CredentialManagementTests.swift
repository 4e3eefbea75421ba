import HTTPTypes
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct CredentialManagementTests {
    /// A bench whose credentials are the texts in the request.
    private func bench() async throws -> ManagementBench {
        try await ManagementBench(
            credentials: CredentialServices(
                credentials: { hub in
                    HubCredential.own(of: hub).map { credential in
                        var credential = credential
                        (credential.kind, credential.subject) = (.vapid, "mailto:a@b.example")
                        return credential
                    }
                },
                read: { _, body throws(PushError) in
                    guard body["subject"] != "nobody" else { throw PushError("credential.invalid", "nobody", status: 400) }
                    return PlatformCredential(properties: body.members.map { ($0.key, Secret($0.value.string ?? "")) })
                },
                check: { hub in
                    HubCredential.own(of: hub).map {
                        CredentialCheck($0, isGood: false, endpoint: "push.example.com", finding: "it refuses", hint: "set another")
                    }
                }))
    }

    private static let own: JSON = [
        "platform": "browser", "source": "hub", "kind": "vapid", "subject": "mailto:a@b.example",
    ]

    @Test func `A credential is set, shown without its secret, and removed, without other changes to the hub`() async throws {
        let bench = try await bench()
        let before = try #require(bench.namespace.hub("hub")).record.description
        let path = "/api/v1/hubs/hub/credentials"
        let set = try await bench.call(.put, "\(path)/browser", ["subject": "mailto:a@b.example", "privateKey": "UNSPEAKABLE"])
        #expect(set == Self.own)
        #expect(try await bench.call(.get, path) == ["items": [Self.own]])
        var expected = before
        expected.credentials[.browser] = PlatformCredential(properties: [
            ("subject", Secret("mailto:a@b.example")), ("privateKey", Secret("UNSPEAKABLE")),
        ])
        #expect(bench.namespace.hub("hub")?.record.description == expected)
        let bad = await refusal { try await bench.call(.put, "\(path)/browser", ["subject": "nobody", "privateKey": "k"]) }
        #expect(bad?.code == "credential.invalid")
        #expect(bench.namespace.hub("hub")?.record.description == expected)
        try await bench.call(.delete, "\(path)/browser")
        #expect(bench.namespace.hub("hub")?.record.description == before)
        let none = await refusal { try await bench.call(.delete, "\(path)/browser") }
        #expect(none?.code == "credential.not_found" && none?.status == 404)
    }

    @Test func `A check calls the push services and returns their answers`() async throws {
        let bench = try await bench()
        try await bench.call(.put, "/api/v1/hubs/hub/credentials/wns", ["packageSid": "ms-app://s-1-15-2-1", "clientSecret": "s"])
        let checks = try await bench.call(.post, "/api/v1/hubs/hub/credentials/check")
        #expect(
            checks == [
                "items": [
                    [
                        "credential": ["platform": "wns", "source": "hub"], "ok": false, "asked": "push.example.com",
                        "finding": "it refuses", "hint": "set another",
                    ]
                ]
            ])
    }

    @Test(
        arguments: [
            ("apns", #"{"topic":"a.b"}"#, "the body has neither key nor certificate"),
            ("apns", #"{"key":"k","certificate":"c"}"#, "the body has key and certificate, which cannot be combined"),
            ("fcm", "{}", "the body lacks serviceAccount"),
            ("wns", #"{"packageSid":"ms-app://s-1-15-2-1"}"#, "the body lacks clientSecret"),
            ("browser", #"{"subject":"mailto:a@b","privatKey":"k"}"#, "the body has no member \"privatKey\""),
        ])
    func `An incomplete body is refused`(platform: String, body: String, message: String) async throws {
        let bench = try await bench()
        let error = await refusal { try await bench.call(.put, "/api/v1/hubs/hub/credentials/\(platform)", try JSON(parsing: body)) }
        #expect(error?.status == 400 && error?.message.hasPrefix(message) == true, "\(String(describing: error))")
    }

    @Test func `It needs the right to manage the hub`() async throws {
        let bench = try await bench()
        let listener = try bench.rule(Namespace.listenRule)
        for (method, path) in [(.get, ""), (.delete, "/wns"), (.post, "/check")] as [(HTTPRequest.Method, String)] {
            let error = await refusal { try await bench.call(method, "/api/v1/hubs/hub/credentials\(path)", by: listener) }
            #expect(error?.status == 401 || error?.status == 403, "\(String(describing: error))")
        }
    }
}
