import Crypto
import Foundation
import HostSupport
import PushModel
import PushRuntime
import Support
import Testing

/// Tokens (JWT) of an external issuer at `pushhost serve`.
@Suite struct BackendTokenTests {
    /// An issuer that publishes its keys in a file.
    private final class Issuer: Sendable {
        let folder: ScriptFolder
        private let key = P256.Signing.PrivateKey()

        init() throws {
            let raw = key.publicKey.rawRepresentation
            let document: JSON = [
                "keys": [
                    [
                        "kty": "EC", "crv": "P-256", "kid": "one", "x": .string(Self.encoded(raw.prefix(32))),
                        "y": .string(Self.encoded(raw.suffix(32))),
                    ]
                ]
            ]
            folder = try ScriptFolder()
            try folder.write("keys.json", Data(document.serialized()))
        }

        /// - Parameter seconds: lifetime from now.
        func token(_ user: String, seconds: Int64 = 300) throws -> String {
            let claims: JSON = [
                "iss": "https://login.example", "aud": "push", "name": .string(user), "exp": .integer(SystemClock().now.seconds + seconds),
            ]
            let header: JSON = ["alg": "ES256", "kid": "one"]
            let text = Self.encoded(header.serialized()) + "." + Self.encoded(claims.serialized())
            return text + "." + Self.encoded(try key.signature(for: Data(text.utf8)).rawRepresentation)
        }

        private static func encoded(_ bytes: some DataProtocol) -> String {
            Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
    }

    private static func settings(_ keys: String) -> [String: String] {
        [
            "PUSHHOST_BACKEND_JWT_ISSUER": "https://login.example", "PUSHHOST_BACKEND_JWT_AUDIENCE": "push",
            "PUSHHOST_BACKEND_JWT_KEYS": keys, "PUSHHOST_BACKEND_JWT_USERNAME_CLAIM": "name", "PUSHHOST_LOG_LEVEL": "debug",
        ]
    }

    private static func check(_ hub: ServedHub, _ issuer: Issuer) async throws {
        func call(_ token: String) async throws -> WireAnswer {
            try await hub.call("POST", "/api/notifications", ["Authorization": "Bearer \(token)"], by: nil)
        }
        let token = try issuer.token("alice")
        for _ in 0..<2 { #expect(try await call(token).status == 200) }
        for wrong in [try issuer.token("alice", seconds: -61), try issuer.token("a b"), token + "x", "a.b.c", "xyz"] {
            let answer = try await call(wrong)
            #expect(answer.status == 401 && answer["WWW-Authenticate"] == #"Bearer error="invalid_token""#)
            #expect(answer["Content-Type"] == "application/problem+json" && !answer.body.contains(wrong))
        }
        #expect(try await !hub.hear("POST /api/notifications 401").contains(token))
    }

    @Test func `A token of the issuer gives access to its user's data, with keys from a file`() async throws {
        let issuer = try Issuer()
        try await ServedHub.serving(settings: Self.settings(issuer.folder.url.appending(path: "keys.json").path)) { hub in
            try await Self.check(hub, issuer)
        }
    }

    @Test func `A token of the issuer gives access with keys from a URL on this machine`() async throws {
        let issuer = try Issuer()
        let site = try Dialogue(
            ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"], tool: "/usr/bin/python3", in: issuer.folder.url)
        let port = try #require(try await site.hear("/)").firstMatch(of: /port (\d+)/)?.1)
        try await ServedHub.serving(settings: Self.settings("http://127.0.0.1:\(port)/keys.json")) { hub in
            try await Self.check(hub, issuer)
        }
        site.signal(SIGKILL)
        _ = await site.end(closingInput: false)
    }

    @Test func `Without the issuer's keys, a token gets a temporary error with Retry-After`() async throws {
        let issuer = try Issuer()
        let file = issuer.folder.url.appending(path: "keys.json")
        try await ServedHub.serving(settings: Self.settings(file.path)) { hub in
            // The keys are fetched at their first use.
            try FileManager.default.removeItem(at: file)
            let token = try issuer.token("alice")
            let answer = try await hub.call("POST", "/api/register", ["Authorization": "Bearer \(token)"], by: nil)
            #expect(answer.status == 503 && answer["Retry-After"] == "10" && answer.body.contains("auth.issuer"))
        }
    }

    @Test func `An invalid file of keys prevents the start, and the doctor reports it`() async throws {
        let folder = try ScriptFolder()
        try folder.write("text.json", Data("no JSON".utf8))
        try folder.write("other.json", Data(#"{"name":"x"}"#.utf8))
        try folder.write("empty.json", Data(#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#.utf8))
        for (name, words) in [
            ("missing.json", "the file missing.json cannot be read: no such file or directory"), (".", "cannot read the file ."),
            ("text.json", "the response is not a key set (JWKS)"), ("other.json", "the response is not a key set (JWKS)"),
            ("empty.json", "the key set (JWKS) has no key that can sign tokens"),
        ] {
            let refused = try await BuiltProgram.run(
                ["serve", "--port", "0", "--tls-port", "none", "--data", "data"], in: folder.url, environment: Self.settings(name))
            #expect(refused.status == 2)
            let expected = "error[settings.invalid]: backend.jwt.keys: \"\(name)\" cannot be used: \(words)"
            #expect(refused.errors.contains(expected), "\(refused.errors)")
            let doctor = try await BuiltProgram.run(["doctor", "--data", "data"], in: folder.url, environment: Self.settings(name))
            #expect(doctor.status == 1 && doctor.output.contains("✗ issuer        backend.jwt.keys: \(name) cannot be used: \(words)"))
        }
    }

    @Test func `An unreachable URL of keys does not prevent the start, and the doctor reports it`() async throws {
        let issuer = try Issuer()
        try await ServedHub.serving(settings: Self.settings("http://127.0.0.1:1/keys.json")) { hub in
            let answer = try await hub.call("POST", "/api/register", ["Authorization": "Bearer \(try issuer.token("alice"))"], by: nil)
            #expect(answer.status == 503)
            let doctor = try await hub.command(["doctor"], environment: Self.settings("http://127.0.0.1:1/keys.json"))
            #expect(doctor.status == 1 && doctor.output.contains("✗ issuer        backend.jwt.keys: http://127.0.0.1:1/keys.json cannot"))
            let path = issuer.folder.url.appending(path: "keys.json").path
            let well = try await hub.command(["doctor"], environment: Self.settings(path))
            #expect(well.output.contains("✓ issuer        \(path) has 1 key for tokens"), "\(well.output)")
        }
    }
}
