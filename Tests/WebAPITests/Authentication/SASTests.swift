import Crypto
import FoundationEssentials
import HubWire
import PushModel
import Support
import Testing

@testable import WebAPI

@Suite struct SASTests {
    private static let now = HubBench.startTime
    private static let rule = AuthorizationRule(
        name: "DefaultListenSharedAccessSignature", rights: [.listen],
        primaryKey: Secret("c7yeaUlAidsreGWOfK7LQUC/SZEz54J72mYGx5oK2Vg="),
        secondaryKey: Secret("DQblgo09jUhPLm5u7vFQmaCYc6smYmUKsl0kWVy6Y/k="), createdAt: now, modifiedAt: now)

    private let verifier = SASVerifier(proved: VerifiedTokenCache()) { $0 == rule.name ? rule : nil }

    private func verify(
        _ header: String?, host: String = "ns.example:5090", path: String = "/hub/registrations/1-2-3",
        right: AuthorizationRule.Right = .listen, now: Timestamp = now
    ) throws(PushError) -> AuthorizationRule {
        try verifier.verify(authorization: header, host: host, path: path, right: right, now: now)
    }

    private func minted(_ resource: String, key: Secret? = nil, seconds: Int64 = 1200) -> SASToken {
        var rule = Self.rule
        if let key { rule.primaryKey = key }
        return SASToken(minting: resource, rule: rule, expiration: Self.now + .seconds(seconds))
    }

    private static func sign(_ resource: String, _ expiry: String) -> [UInt8] {
        let key = SymmetricKey(data: Array(rule.primaryKey.reveal().utf8))
        return Array(HMAC<SHA256>.authenticationCode(for: Array("\(resource)\n\(expiry)".utf8), using: key))
    }

    private static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    @Test func `a token is signed as by every client`() {
        let rule = AuthorizationRule(
            name: "a b", rights: [.send], primaryKey: Secret("key"), secondaryKey: Secret(""), createdAt: Self.now,
            modifiedAt: Self.now)
        let token = SASToken(minting: "sb://NS.example/hub", rule: rule, expiration: Timestamp(seconds: 1_767_604_800))
        // HMAC-SHA256 with the bytes of "key" over "sb%3a%2f%2fns.example%2fhub\n1767604800".
        #expect(
            token.header
                == "SharedAccessSignature sr=sb%3a%2f%2fns.example%2fhub&sig=8b2L9CTZaSYhOsRFdFKbueUW0BMOqY5db0Lwc9MvVcE%3d&se=1767604800&skn=a%20b"
        )
    }

    @Test func `either key of a rule can sign`() throws {
        for key in [Self.rule.primaryKey, Self.rule.secondaryKey] {
            #expect(try verify(minted("sb://ns.example/hub", key: key).header) == Self.rule)
        }
    }

    @Test func `an unknown key name costs as many signatures as a known one, and its token is never accepted`() {
        let candidates = SASVerifier.candidates(of: nil)
        #expect(candidates.count == SASVerifier.candidates(of: Self.rule).count)
        #expect(candidates.allSatisfy { $0.reveal().utf8.count == Self.rule.primaryKey.reveal().utf8.count })
        // Also when it is signed with the key that replaces an absent one.
        for key in candidates {
            var rule = Self.rule
            (rule.name, rule.primaryKey) = ("Unknown", key)
            let token = SASToken(minting: "sb://ns.example/hub", rule: rule, expiration: Self.now + .seconds(1200))
            #expect(throws: PushError.self) { try verify(token.header) }
        }
    }

    @Test func `fields may be in any order, and the resource in any encoding`() throws {
        for resource in ["sb%3A%2F%2Fns.example%2Fhub", "sb%3a%2f%2fns.example%2fhub", "sb://ns.example/hub", "SB%3A//NS.example%2Fhub"] {
            var token = minted("")
            token.resource = resource
            token.signature = Self.sign(resource, token.expiry)
            let signature = PercentEncoding.encode(Self.base64(token.signature))
            for header in [
                "SharedAccessSignature sig=\(signature)&se=\(token.expiry)&skn=\(Self.rule.name)&sr=\(resource)",
                "sharedaccesssignature  se=\(token.expiry)&sig=\(Self.base64(token.signature))&skn=\(Self.rule.name)&sr=\(resource)",
            ] { #expect(try verify(header) == Self.rule) }
        }
    }

    @Test(
        arguments: [
            "http://ns.example", "https://ns.example:443", "sb://ns.example:5090/", "https://NS.EXAMPLE/", "https://ns.example/hub",
            "http://ns.example/hub/", "http://ns.example/hub/registrations/?api-version=2013-04",
            "https://ns.example/Hub/Registrations/1-2-3",
            "https://ns.example/hub?api-version=2015-01&direct",
        ])
    func `a resource above the request covers it`(resource: String) throws {
        #expect(try verify(minted(resource).header) == Self.rule)
    }

    @Test(
        arguments: [
            "http://other.example/hub", "http://ns.example/hu", "http://ns.example/hub2", "http://ns.example/hub/messages",
            "http://ns.example/hub/registrations/1-2-3/4", "ns.example/hub", "http://ns.example.evil/hub", "http:///hub",
            "http://ns.example@evil/hub",
        ])
    func `a resource beside the request does not cover it`(resource: String) async {
        let error = await refusal { try verify(minted(resource).header) }
        #expect(error?.code == "sas.audience" && error?.status == 401 && error?.details == ["subcode": 40104])
    }

    @Test func `an IPv6 host is compared including its brackets`() throws {
        #expect(try verify(minted("http://[::1]:5090/hub").header, host: "[::1]:80") == Self.rule)
        #expect(try verify(minted("http://[::1]/hub").header, host: "[::1]") == Self.rule)
    }

    @Test func `a token is valid for five minutes longer than it states, because clocks differ`() async throws {
        let token = minted("http://ns.example", seconds: 60)
        #expect(try verify(token.header, now: Self.now + .seconds(360)) == Self.rule)
        let error = await refusal { try verify(token.header, now: Self.now + .milliseconds(360_001)) }
        #expect(error?.code == "sas.expired" && error?.status == 401 && error?.details == ["subcode": 40106])
    }

    @Test func `a wrong key and an unknown rule have the same error`() async {
        var unknown = minted("http://ns.example")
        unknown.keyName = "Nobody"
        for token in [minted("http://ns.example", key: Secret("x")), unknown] {
            let error = await refusal { try verify(token.header) }
            #expect(error?.code == "sas.signature" && error?.status == 401 && error?.details == ["subcode": 40103])
            #expect(error?.message == "InvalidSignature: The token has an invalid signature")
        }
    }

    @Test func `a signed token cannot be changed`() async {
        var later = minted("http://ns.example")
        later.expiry += "0"
        var other = minted("http://ns.example/hub")
        other.resource = "http%3a%2f%2fns.example"
        for token in [later, other] { #expect(await refusal { try verify(token.header) }?.code == "sas.signature") }
    }

    @Test func `a verified token is still checked for everything but its signature`() async throws {
        let token = minted("http://ns.example/hub").header
        for _ in 1...2 { #expect(try verify(token) == Self.rule) }
        #expect(await refusal { try verify(token, path: "/other") }?.code == "sas.audience")
        #expect(await refusal { try verify(token, right: .send) }?.code == "sas.forbidden")
        #expect(await refusal { try verify(token, now: Self.now + .seconds(1501)) }?.code == "sas.expired")
    }

    @Test func `a token is invalid once its key is removed`() async throws {
        let proved = VerifiedTokenCache()
        func verify(_ header: String, with rule: AuthorizationRule?) throws(PushError) {
            _ = try SASVerifier(proved: proved) { _ in rule }
                .verify(authorization: header, host: "ns.example", path: "/hub", right: .listen, now: Self.now)
        }
        let (first, second) = (minted("http://ns.example").header, minted("http://ns.example", key: Self.rule.secondaryKey).header)
        try verify(first, with: Self.rule)
        try verify(second, with: Self.rule)
        var rotated = Self.rule
        rotated.primaryKey = Secret("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        #expect(await refusal { try verify(first, with: rotated) }?.code == "sas.signature")
        try verify(second, with: rotated)
        #expect(await refusal { try verify(second, with: nil) }?.code == "sas.signature")
    }

    @Test func `a right that the rule does not have is refused`() async {
        let token = minted("http://ns.example").header
        let send = await refusal { try verify(token, right: .send) }
        #expect(send?.code == "sas.forbidden" && send?.status == 403)
        let manage = await refusal { try verify(token, right: .manage) }
        #expect(manage?.status == 401 && manage?.message == "key \"\(Self.rule.name)\" lacks the right Manage")
    }

    @Test(arguments: [nil, "", "  "] as [String?])
    func `a request without a token gets an error that says so`(header: String?) async {
        let error = await refusal { try verify(header) }
        #expect(error?.code == "sas.missing" && error?.status == 401 && error?.details == ["subcode": 40102])
    }

    @Test(
        arguments: [
            "Basic YWxpY2U6YWxpY2U=", "SharedAccessSignature", "SharedAccessSignature sr=a", "SharedAccessSignature sr&sig=&se=1&skn=x",
            "SharedAccessSignature sr=a&sr=a&sig=YQ%3D%3D&se=1&skn=x", "SharedAccessSignature sr=a&sig=!&se=1&skn=x",
            "SharedAccessSignature sr=a&sig=YQ%3D%3D&se=soon&skn=x", "SharedAccessSignature sr=a&sig=YQ%3D%3D&se=-1&skn=x",
            "SharedAccessSignature sr=a&sig=YQ%3D%3D&se=99999999999999999999&skn=x", "SharedAccessSignature \u{0}", "é",
        ])
    func `a malformed token is refused`(header: String) async {
        let error = await refusal { try verify(header) }
        #expect(error?.code == "sas.malformed" && error?.status == 401 && error?.details == ["subcode": 40105])
    }

    @Test func `a connection string can be read by every client`() {
        let text = ConnectionString(host: "localhost:5090", keyName: "a", key: Secret("k=")).reveal()
        #expect(text == "Endpoint=sb://localhost:5090/;SharedAccessKeyName=a;SharedAccessKey=k=")
    }

    @Test(arguments: [
        ("https://inner/hub", true), ("https://push.example/hub", true), ("https://push.example:444/azure/hub", true),
        ("sb://push.example/", true), ("sb://PUSH.example/azure/", true), ("https://push.example/other/hub", false),
        ("https://elsewhere/azure/hub", false), ("https://inner/azure/hub", false),
        ("https://push.example/azure/hub/tags/a%2Fb/registrations?api-version=x", true), ("https://push.example/hub/tags/a", false),
        ("https://push.example/hub/tags/a/b", false), ("https://push.example/HUB/Tags/A%2fb", true),
    ])
    func `For a server behind another address tokens may name either address, part by part`(_ address: String, _ holds: Bool) throws {
        let place = try #require(SASResource(PercentEncoding.decodeForm(PercentEncoding.encode(address))))
        #expect(
            SASVerifier.covers(
                place, host: "inner:8080", path: "/hub/tags/a%2Fb/registrations", publicURL: "https://push.example:444/azure") == holds)
    }
}
