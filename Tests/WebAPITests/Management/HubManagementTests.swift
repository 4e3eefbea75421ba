import HTTPTypes
import HubWire
import PushHub
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct HubManagementTests {
    @Test func `A hub is created, shown and deleted, also under a name with a slash`() async throws {
        let bench = try await ManagementBench()
        let made = try await bench.call(
            .post, "/api/v1/hubs", ["name": "Shop/eu", "registrationTTL": "P1DT2H", "userMetadata": "{}"])
        let expected: JSON = [
            "name": "Shop/eu", "createdAt": "2026-01-05T09:00:00.000Z", "updatedAt": "2026-01-05T09:00:00.000Z",
            "registrationTTL": "P1DT2H",
            "userMetadata": "{}", "registrations": 0, "installations": 0, "waiting": 0, "pushServices": [],
        ]
        #expect(made == expected)
        #expect(try await bench.call(.get, "/api/v1/hubs/shop%2Feu") == expected)
        #expect(try await bench.list("/api/v1/hubs?", "name") == ["Shop/eu", "hub"])
        let again = await refusal { try await bench.call(.post, "/api/v1/hubs", ["name": "shop/EU"]) }
        #expect(again?.code == "hub.exists" && again?.status == 409)
        try await bench.call(.delete, "/api/v1/hubs/Shop%2Feu")
        let gone = await refusal { try await bench.call(.get, "/api/v1/hubs/Shop%2Feu") }
        #expect(gone?.code == "hub.not_found" && gone?.status == 404)
    }

    @Test func `A hub reports its size and the platforms it can reach`() async throws {
        let bench = try await ManagementBench()
        let credential = PlatformCredential(properties: [("Token", Secret("t"))])
        _ = try await bench.namespace.update("hub", HubDescription(credentials: [.fcmV1: credential, .apns: credential]))
        try await bench.hub.putInstallation(Installation(id: "i", handle: .phone(1), templates: ["t": InstallationTemplate(body: "{}")]))
        let hub = try await bench.call(.get, "/api/v1/hubs/hub")
        #expect(hub["registrations"] == 2 && hub["installations"] == 1 && hub["pushServices"] == ["apns", "fcm"])
    }

    @Test(
        arguments: [
            (#"{"name":"a","nmae":"b"}"#, "the body has no member \"nmae\"; did you mean name? (request.body)"),
            (#"{"name":"a","zzzzzz":1}"#, "the body has no member \"zzzzzz\"; its members are name, registrationTTL, userMetadata"),
            (#"{"name":"a","name":"b"}"#, "the body is not JSON: the key \"name\" occurs twice at line 1, column 13"),
            (#"{"registrationTTL":"P1D"}"#, "the body lacks name; add name"), (#"{"name":7}"#, "name is not a string"),
            (#"{"name":"a","registrationTTL":"PT5M"}"#, "invalid value \"PT5M\" of registrationTTL"),
            (#"{"name":"a","registrationTTL":"P٣D"}"#, "invalid value \"P٣D\" of registrationTTL"),
            (#"{"name":"a","userMetadata":null}"#, "userMetadata is not a string"), ("[]", "the body is not an object; send a JSON object"),
            (#"{"name":"-a"}"#, "invalid value \"-a\" of name"), ("", "the body is not JSON"),
            (#"{"name":"messages"}"#, #"invalid hub name "messages""#),
            (#"{"name":"Lab/sessions"}"#, #"invalid hub name "Lab/sessions": the server uses this path"#),
        ])
    func `An invalid body is refused with its fault`(body: String, message: String) async throws {
        let bench = try await RouteBench()
        let root = try #require(bench.access.namespace.rules.first)
        let token = SASToken(minting: "sb://localhost/", rule: root, expiration: HubBench.startTime + .seconds(60))
        var request = bench.unsigned("/api/v1/hubs", body: body, fields: [.authorization: token.header])
        request.method = .post
        let error = await refusal { [request] in
            try await bench.management.answer(request)
        }
        #expect(error?.status == 400)
        #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
    }

    @Test(
        arguments: [
            ("installations?top=1&TOP=2", "request.parameter"), ("installations?top=0", "request.parameter"),
            ("installations?top=1e1", "request.parameter"),
            ("installations?platform=ios", "request.parameter"), ("registrations?lastOutcome=success", "request.parameter"),
            ("registrations?tag=a%20b", "request.parameter"), ("tags?continuation=x", "request.parameter"),
            ("keys?reveal=yes", "request.parameter"), ("installations?continuation=999999999999", "request.parameter"),
            ("installations?lastOutcom=Success", "request.parameter"), ("keys?top=1", "request.parameter"),
        ])
    func `An invalid value of a parameter and an unknown parameter are refused`(path: String, code: String) async throws {
        let bench = try await ManagementBench()
        let error = await refusal { try await bench.call(.get, "/api/v1/hubs/hub/\(path)") }
        #expect(error?.code == code && error?.status == 400)
        // The parameter that every client of Azure sends.
        try await bench.call(.get, "/api/v1/hubs/hub/\(path.prefix { $0 != "?" })?api-version=2020-06")
    }

    @Test(
        arguments: [
            (.patch, "/api/v1/hubs", 405, "GET, HEAD, POST"), (.options, "/api/v1/hubs/hub/keys/a/rotate", 405, "POST"),
            (.post, "/openapi.json", 405, "GET, HEAD"), (.get, "/api/v1/hubs/", 404, nil), (.get, "/api/v2/hubs", 404, nil),
            (.get, "/api/v1/hubs//keys", 404, nil),
        ] as [(HTTPRequest.Method, String, Int, String?)])
    func `An unknown path or method is reported without authentication`(
        method: HTTPRequest.Method, path: String, status: Int, allowed: String?
    ) async throws {
        let bench = try await RouteBench()
        var request = bench.unsigned(path)
        request.method = method
        let error = await refusal { [request] in
            try await bench.management.answer(request)
        }
        #expect(error?.status == status)
        #expect(error?.details["allow"]?.string == allowed)
    }
}
