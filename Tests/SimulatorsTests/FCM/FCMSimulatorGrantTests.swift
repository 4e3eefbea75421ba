import HTTPTypes
import Simulators
import Testing

@Suite("Google's token endpoint checks the assertion")
struct FCMSimulatorGrantTests {
    let bench = FCMBench()

    @Test("A valid assertion gives an access token for an hour less a second")
    func valid() async throws {
        let reply = await bench.grant(try bench.assertion())
        #expect(reply.status == 200)
        #expect(reply.member("expires_in") == "3599")
        #expect(reply.member("token_type") == "Bearer")
        #expect(reply.member("access_token")?.hasPrefix("ya29.") == true)
    }

    @Test("Several scopes and the endpoint's other names are accepted too")
    func lenient() async throws {
        let scope =
            "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/firebase"
        let assertion = try bench.assertion(
            audience: "https://accounts.google.com/o/oauth2/token", scope: scope)
        #expect(await bench.grant(assertion).status == 200)
    }

    private func error(_ reply: Reply) -> String { "\(reply.status) \(reply.member("error") ?? "")" }

    @Test("The grant type must be the assertion's")
    func grantType() async throws {
        #expect(error(await bench.grant(try bench.assertion(), type: "password")) == "400 unsupported_grant_type")
    }

    @Test("The body must be a form")
    func contentType() async throws {
        let reply = await bench.grant(try bench.assertion(), contentType: "application/json")
        #expect(error(reply) == "400 invalid_request")
    }

    @Test(
        "The media type of a form is case-insensitive, and parameters are ignored",
        arguments: [
            ("Application/X-WWW-Form-Urlencoded", 200), ("application/x-www-form-urlencoded; charset=utf-8", 200),
            ("application/x-www-form-urlencoded ;charset=utf-8", 200), ("application/x-www-form-urlencodedness", 400), ("", 400),
        ])
    func contentTypes(type: String, status: Int) async throws {
        #expect(await bench.grant(try bench.assertion(), contentType: type).status == status)
    }

    @Test(
        "Times can have fractions and the audience can be a list, but times cannot be text (RFC 7519)",
        arguments: [
            ("1800000000.75", "1800003600.5", #""https://oauth2.googleapis.com/token""#, 200),
            ("1.8e9", "1800003600", #"["https://example.com", "https://oauth2.googleapis.com/token"]"#, 200),
            (#""1800000000""#, "1800003600", #""https://oauth2.googleapis.com/token""#, 400),
            ("1800000000", #""1800003600""#, #""https://oauth2.googleapis.com/token""#, 400),
            ("1800000000", "1800003600", #"["https://example.com"]"#, 400), ("1800000000", "1800003600", "[]", 400),
            // Differences of such numbers overflow 64 bits.
            ("-9223372036854775808", "9223372036854775807", #""https://oauth2.googleapis.com/token""#, 400),
            ("1e300", "1e301", #""https://oauth2.googleapis.com/token""#, 400),
        ])
    func forms(issuedAt: String, expires: String, audience: String, status: Int) async throws {
        let scope = "https://www.googleapis.com/auth/firebase.messaging"
        let claims = #"{"iss":"\#(FCMBench.email)","aud":\#(audience),"scope":"\#(scope)","iat":\#(issuedAt),"exp":\#(expires)}"#
        let assertion = try TokenText.rs256(
            header: #"{"alg":"RS256","typ":"JWT","kid":"key-1"}"#, claims: claims, key: #require(FCMBench.sharedKey))
        #expect(await bench.grant(assertion).status == status)
    }

    @Test("Text that is not a token is rejected")
    func garbage() async {
        #expect(error(await bench.grant("a.b.c")) == "400 invalid_grant")
    }

    @Test("The account must exist")
    func issuer() async throws {
        #expect(error(await bench.grant(try bench.assertion(issuer: "x@y.z"))) == "400 invalid_grant")
    }

    @Test("The key must be one of the account's")
    func kid() async throws {
        #expect(error(await bench.grant(try bench.assertion(kid: "key-2"))) == "400 invalid_grant")
    }

    @Test("The signature must be the key's")
    func signature() async throws {
        #expect(
            error(await bench.grant(try bench.assertion(key: FCMBench.otherKey))) == "400 invalid_grant")
    }

    @Test("The audience must be the endpoint")
    func audience() async throws {
        #expect(
            error(await bench.grant(try bench.assertion(audience: "https://example.com"))) == "400 invalid_grant")
    }

    @Test("A scope of Google is required")
    func scope() async throws {
        #expect(error(await bench.grant(try bench.assertion(scope: ""))) == "400 invalid_scope")
        #expect(error(await bench.grant(try bench.assertion(scope: "mail"))) == "400 invalid_scope")
    }

    @Test("The times are at most an hour apart, and the current time is between them")
    func times() async throws {
        #expect(error(await bench.grant(try bench.assertion(lifetime: 3601))) == "400 invalid_grant")
        #expect(error(await bench.grant(try bench.assertion(lifetime: 0))) == "400 invalid_grant")
        #expect(error(await bench.grant(try bench.assertion(issuedAt: -3600))) == "400 invalid_grant")
        #expect(error(await bench.grant(try bench.assertion(issuedAt: 301))) == "400 invalid_grant")
        #expect(await bench.grant(try bench.assertion(issuedAt: 300)).status == 200)
    }
}
