import HTTPTypes
import PushModel
import Testing

@testable import PushServer

/// The issuer whose tokens the app backend accepts.
@Suite struct BackendSettingsTests {
    @Test(
        arguments: [
            ("keys.json", true), ("/etc/keys.json", true), ("https://login.example/keys", true), ("http://localhost:1/keys", true),
            ("http://127.0.0.1/keys", true), ("http://login.example/keys", false), ("ftp://login.example", false), ("https://", false),
        ])
    func `keys come from a file, over HTTPS, or over HTTP from this machine`(text: String, fits: Bool) {
        #expect((IssuerKeySource(text) != nil) == fits)
    }

    @Test func `Settings that belong together must be set together`() {
        #expect(throws: PushError.self) { try ServerSettings(file: nil, environment: ["PUSHHOST_BACKEND_JWT_ISSUER": "i"], flags: [:]) }
        let yaml = "backend: { jwt: { issuer: i, audience: a, keys: 'http://login.example/keys' } }"
        do throws(PushError) {
            _ = try ServerSettings(file: ("pushhost.yaml", yaml), environment: [:], flags: [:])
            Issue.record("it was taken")
        } catch {
            #expect(error.message.hasPrefix("backend.jwt.keys: invalid value \"http://login.example/keys\""), "\(error.message)")
        }
    }

    @Test(
        arguments: [
            ("max-age=30", Duration.seconds(30)), ("public, Max-Age=\"600\"", .seconds(600)), ("no-store", .zero), ("", nil),
            ("max-age=soon", nil), ("max-age=99999999999", .seconds(86_400)),
        ] as [(String, Duration?)])
    func `the issuer's Cache-Control determines how long its keys are cached`(header: String, age: Duration?) {
        #expect(IssuerKeySource.maximumAge([.cacheControl: header]) == age)
    }
}
