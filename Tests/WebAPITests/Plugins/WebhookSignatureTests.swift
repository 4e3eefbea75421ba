import HTTPTypes
import HubWire
import PushModel
import Testing

@testable import WebAPI

/// Signatures made by others.
@Suite struct WebhookSignatureTests {
    private func fields(_ pairs: [(String, String)]) throws -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs { fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value)) }
        return fields
    }

    /// The example of GitHub's page "Validating webhook deliveries".
    @Test func `GitHub's example is valid`() throws {
        let signature = try WebhookSignature(
            fields([
                ("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
                ("X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"),
            ]), .github)
        let key = try #require(WebhookScheme.github.key(Secret("It's a Secret to Everybody")))
        try signature.check(Array("Hello, World!".utf8), key, now: Timestamp(seconds: 0))
        #expect(throws: PushError.self) { try signature.check(Array("Hello, World?".utf8), key, now: Timestamp(seconds: 0)) }
    }

    /// The example in the tests of Standard Webhooks' reference libraries.
    @Test func `The example of Standard Webhooks is valid, at its time only`() throws {
        let signature = try WebhookSignature(
            fields([
                ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"), ("webhook-timestamp", "1614265330"),
                ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
            ]), .standard)
        let key = try #require(WebhookScheme.standard.key(Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")))
        let body = Array(#"{"test": 2432232314}"#.utf8)
        try signature.check(body, key, now: Timestamp(seconds: 1_614_265_330))
        let error = #expect(throws: PushError.self) { try signature.check(body, key, now: Timestamp(seconds: 1_614_265_631)) }
        #expect(error?.code == "webhook.stale")
    }

    @Test(arguments: [
        "t=1767603600", "v1=00", "t=,v1=", "t=+1,v1=", "t=1767603600,t=1767603600,v1=", "t=1e9,v1=", "t=-1,v1=", "t=1 ,v1=0",
        "t=1234567890123,v1=", "t=１,v1=",
    ])
    func `A header in another form is refused`(header: String) throws {
        let digits = String(repeating: "0", count: 64)
        let text = header.hasSuffix("v1=") ? header + digits : header
        let error = #expect(throws: PushError.self) { try WebhookSignature(fields([("PushHost-Signature", text)]), .pushhost) }
        #expect(error?.code == "webhook.signature")
    }
}
