import Testing

@testable import Bindings

/// Findings about texts that look like credentials. The texts are assembled here so that secret scanners do not report this file.
@Suite struct SecretFindingTests {
    private static let letters = "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MDEyMzQ1Njc4OTA="
    static let secrets: [String] = [
        "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Full;SharedAccess" + "Key=\(letters)",
        "DefaultEndpointsProtocol=https;Account" + "Key=\(letters)", "Authorization: Bea" + "rer abcdefGHIJKL0123456789._-",
        "ey" + "JhbGciOiJFUzI1NiJ9.eyJpc3MiOiJURUFNIn0.c2lnbmF0dXJl", "AK" + "IAIOSFODNN7EXAMPLE",
        "AI" + "zaSyA1234567890abcdefghijklmnopqrstuv",
        "xo" + "xb-123456789012-abcdefGHIJ", "gh" + "p_0123456789abcdefghijABCDEFGHIJ456789",
        "-----BEGIN PRIVATE" + " KEY-----\\nMIGH\\n-----END",
        "-----BEGIN EC PRIVATE" + " KEY-----",
    ]

    @Test(arguments: secrets)
    func `a credential in a text or comment is found, and the finding does not show it`(secret: String) throws {
        for lua in ["local x = '\(secret)'", "-- \(secret)", "print { [[\(secret)]] }"] {
            let found = findings(in: lua)
            #expect(found.map(\.code) == ["check.secret"], "\(lua)")
            let finding = try #require(found.first)
            #expect(finding.severity == .error)
            #expect(!"\(finding.message)\(finding.hint ?? "")".contains(secret.suffix(8)))
        }
    }

    @Test(
        arguments: [
            "SharedAccessKey=<your key>", "SharedAccessKey=…", "Bearer token", "Bearer xxxxxxxxxxxxxxxxxxxxxxxxxxxx", "AKIA", "AIza", "eyJ",
            "ey" + "J0.x.y",
            "-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "the bearer of good news, a long text without a key", "xoxb-",
            "ghp_short",
        ])
    func `texts that only resemble a credential have no finding`(text: String) {
        #expect(findings(in: "local x = '\(text)' -- \(text)").isEmpty)
    }

    @Test(
        arguments: [
            ("push.login { username = 'a', password = 'hunter2' }", 41),
            ("local p = 'hunter2'\npush.login { username = 'a', password = p }", 11),
            ("push.login { username = 'a', ['password'] = 'hunter2' }", 45),
            ("local login = push.login\nlogin { username = 'a', password = 'hunter2' }", 36),
        ])
    func `a literal password is found at its position`(lua: String, column: Int) {
        let found = findings(in: lua)
        #expect(found.map(\.code) == ["check.secret"])
        #expect(found.first?.column == column)
        #expect(found.first?.message.contains("hunter2") == false)
    }

    @Test func `a password that is not a literal has no finding`() {
        for value in ["push.secret 'x'", "args.password", "''", "os.date()", "nil or push.secret 'x'"] {
            #expect(findings(in: "local args = ...\npush.login { username = 'a', password = \(value) }").isEmpty, "\(value)")
        }
    }

    @Test(
        arguments: [
            ("local api_key = 'VALUE'", true), ("local t = { accessToken = 'VALUE' }", true),
            ("local t = {} t.client_secret = 'VALUE'", true),
            ("local t = {} t['password'] = 'VALUE'", true), ("local name = 'VALUE'", false), ("local t = { title = 'VALUE' }", false),
        ])
    func `a random text is a secret when its name says so`(lua: String, isSecret: Bool) {
        let random = "q8Zr2LmN0pXv7" + "TyB4wKd9HsE"
        #expect(findings(in: lua.replacing("VALUE", with: random)).map(\.code) == (isSecret ? ["check.secret"] : []))
        for plain in ["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1", "a short one", "00000000-0000-0000-0000-000000000001"] {
            #expect(findings(in: lua.replacing("VALUE", with: plain)).isEmpty, "\(plain)")
        }
    }
}
