import Foundation
import HTTPTypes
import Simulators
import Testing

/// Checks of FCM, each with a valid request and one change that only this check refuses.
@Suite struct FCMCheckTests {
    private static let schema = "400 INVALID_ARGUMENT field"
    private static let field = "400 INVALID_ARGUMENT fcm:INVALID_ARGUMENT field"
    private static let good = #""notification":{"title":"News"},"data":{"k":"v"},"android":{"ttl":"60s","priority":"HIGH"}"#

    @Test(arguments: [
        ("message.notification", #""notification":"x""#, schema), ("message.android", #""android":[]"#, schema),
        ("message.android.notification", #""android":{"notification":"x"}"#, schema), ("message.apns", #""apns":"x""#, schema),
        ("message.apns.payload", #""apns":{"payload":[]}"#, schema), ("message.webpush", #""webpush":{"colour":"red"}"#, schema),
        ("message.webpush.headers", #""webpush":{"headers":{"TTL":60}}"#, schema),
        ("restricted_package_name", #""android":{"restricted_package_name":1}"#, schema),
        ("message.android.data", #""android":{"data":{"google.x":"y"}}"#, field),
        ("android.data", #""android":{"data":{"n":1}}"#, schema), ("message.android.ttl", #""android":{"ttl":60}"#, schema),
    ])
    func `a section of a message is refused for its own fault`(name: String, fields: String, kind: String) async throws {
        let bench = FCMBench()
        #expect(try await bench.send(Self.good).kind == "200")
        let reply = try await bench.send(fields)
        #expect(reply.kind == kind && reply.text.contains(name), "\(reply.text)")
    }

    @Test(arguments: [
        (#""token":7"#, schema), (#""topic":7"#, schema), (#""fid":"short""#, "400 INVALID_ARGUMENT fcm:INVALID_ARGUMENT"),
        (#""fid":"AAAAAAAAAAAAAAAAAAAAAA""#, "404 NOT_FOUND fcm:UNREGISTERED"),
        (#""condition":"'a' in topics && 'b' in topics && 'c' in topics && 'd' in topics && 'e' in topics && 'f' in topics""#, field),
        (#""condition":"'a' in topics &&""#, field), (#""condition":"('a' in topics""#, field),
    ])
    func `a target is refused for its own fault`(target: String, kind: String) async throws {
        #expect(try await FCMBench().send(target: target).kind == kind)
    }

    @Test func `an installation id is the start of its token, and valid as long as the token`() async throws {
        let bench = FCMBench()
        let id = String(bench.handle.prefix(22))
        #expect(try await bench.send(target: #""fid":"\#(id)""#).kind == "200")
        #expect(bench.lab.inbox(of: bench.phone).count == 1)
        #expect(bench.simulator.fail("INTERNAL", count: 1, handle: bench.handle))
        #expect(try await bench.send(target: #""fid":"\#(id)""#).status == 500)
        bench.lab.uninstall(bench.phone)
        #expect(try await bench.send(target: #""fid":"\#(id)""#).kind == "404 NOT_FOUND fcm:UNREGISTERED")
    }

    @Test func `the token endpoint requires POST, a grant type and an assertion with both of its times`() async throws {
        let bench = FCMBench()
        func ask(_ method: HTTPRequest.Method, _ body: String) async -> String {
            let form = [("content-type", "application/x-www-form-urlencoded")]
            let request = HTTPRequest(method, host: "oauth2.googleapis.com", path: "/token", form)
            let reply = Reply(await bench.simulator.handle(request, body: Array(body.utf8)))
            return "\(reply.status) \(reply.member("error_description") ?? "")"
        }
        let assertion = try bench.assertion()
        let type = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
        #expect(await ask(.post, "\(type)&assertion=\(assertion)") == "200 ")
        #expect(await ask(.get, "\(type)&assertion=\(assertion)") == "405 ")
        #expect(await ask(.post, "assertion=\(assertion)") == "400 Required parameter is missing: grant_type")
        #expect(await ask(.post, type) == "400 Required parameter is missing: assertion")
        let key = try #require(FCMBench.sharedKey)
        for times in [#""iat":\#(bench.time.seconds)"#, #""exp":\#(bench.time.seconds + 60)"#] {
            let claims =
                #"{"iss":"\#(FCMBench.email)","aud":"https://oauth2.googleapis.com/token","scope":"https://www.googleapis.com/auth/x","#
                + times + "}"
            let token = try TokenText.rs256(header: #"{"alg":"RS256","kid":"key-1"}"#, claims: claims, key: key)
            #expect(await ask(.post, "\(type)&assertion=\(token)").contains("Token must be a short-lived token"))
        }
    }

    @Test func `requested refusals of access tokens apply to these alone, with a wait where the reason has one`() async throws {
        let bench = FCMBench()
        #expect(bench.simulator.failGrants("temporarily_unavailable", count: 1, retryAfter: 7))
        #expect(!bench.simulator.failGrants("UNAVAILABLE", count: 1))
        // A request that is invalid anyway uses up no fault.
        #expect(await bench.grant("a.b.c").member("error") == "invalid_grant")
        let refused = await bench.grant(try bench.assertion())
        #expect(refused.status == 503 && refused["retry-after"] == "7" && refused.member("error") == "temporarily_unavailable")
        #expect(try await bench.send().kind == "200")
        #expect(bench.simulator.failGrants("invalid_grant", count: nil))
        bench.simulator.clearFaults()
        #expect(await bench.grant(try bench.assertion()).status == 200)
    }
}
