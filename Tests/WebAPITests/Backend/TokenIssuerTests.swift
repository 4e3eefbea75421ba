import Crypto
import CryptoExtras
import Foundation
import HubWire
import PushModel
import Support
import Synchronization
import Testing

@testable import WebAPI

/// Valid and invalid tokens of an issuer.
@Suite struct TokenIssuerTests {
    private static let issuerName = "https://login.example"
    private static let now = HubBench.startTime

    private let clock = VirtualClock(now: TokenIssuerTests.now)
    private let key = P256.Signing.PrivateKey()
    private let other = P256.Signing.PrivateKey()
    private let edwards = Curve25519.Signing.PrivateKey()

    private static func encoded(_ bytes: some DataProtocol) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func document(_ key: P256.Signing.PrivateKey, id: String) -> JSON {
        let raw = key.publicKey.rawRepresentation
        return [
            "kty": "EC", "crv": "P-256", "kid": .string(id), "use": "sig", "x": .string(encoded(raw.prefix(32))),
            "y": .string(encoded(raw.suffix(32))),
        ]
    }

    private var document: JSON {
        [
            "keys": [
                Self.document(key, id: "one"), ["kty": "oct", "k": "AAAA", "kid": "password"], ["kty": "future"],
                ["kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": .string(Self.encoded(edwards.publicKey.rawRepresentation))],
            ]
        ]
    }

    private func issuer(_ fetch: (@Sendable () throws(PushError) -> IssuerKeys.Document)? = nil) -> TokenIssuer {
        let document = document
        return TokenIssuer(
            name: Self.issuerName, audience: "push",
            keys: IssuerKeys(clock: clock) { () throws(PushError) in
                if let fetch { return try fetch() }
                return IssuerKeys.Document(bytes: document.serialized())
            })
    }

    private static func claims(_ changes: [String: JSON?] = [:]) -> JSON {
        var claims: JSONObject = [
            "iss": .string(issuerName), "aud": "push", "sub": "alice", "exp": .integer(now.seconds + 300),
        ]
        for (name, value) in changes { claims[name] = value }
        return .object(claims)
    }

    private func token(
        _ header: JSON = ["alg": "ES256", "kid": "one", "typ": "JWT"], _ claims: JSON = TokenIssuerTests.claims(),
        sign: ((Data) throws -> Data)? = nil
    ) throws -> String {
        let text = Self.encoded(header.serialized()) + "." + Self.encoded(claims.serialized())
        let signature = try sign?(Data(text.utf8)) ?? key.signature(for: Data(text.utf8)).rawRepresentation
        return text + "." + Self.encoded(signature)
    }

    private func refused(_ token: String, _ issuer: TokenIssuer? = nil) async -> String? {
        let issuer = issuer ?? self.issuer()
        let error = await refusal { try await issuer.verified(token, now: clock.now) }
        if error != nil { #expect(error?.code == "auth.token" && error?.status == 401) }
        return error.map { String($0.message.dropFirst("invalid token: ".count)) }
    }

    @Test func `A valid token gives its user, until it expires with an allowance for different clocks`() async throws {
        let claims = try await issuer().verified(token(), now: clock.now)
        #expect(claims == TokenIssuer.Claims(username: "alice", end: Self.now + .seconds(360)))
        #expect(await refused(try token(["alg": "ES256"])) == nil)
        #expect(await refused(try token(["alg": "EdDSA", "kid": "ed"], sign: { try edwards.signature(for: $0) })) == nil)
        #expect(await refused(try token(["alg": "ES256"], Self.claims(["aud": ["other", "push"]]))) == nil)
    }

    @Test func `A token of an RSA key is valid, unless the key is too small`() async throws {
        for (size, isTaken) in [(2048, true), (1024, false)] {
            let key = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: size))
            let parts = try key.publicKey.getKeyPrimitives()
            let document: JSON = [
                "keys": [
                    ["kty": "RSA", "kid": "r", "n": .string(Self.encoded(parts.modulus)), "e": .string(Self.encoded(parts.publicExponent))]
                ]
            ]
            let issuer = issuer { () throws(PushError) in IssuerKeys.Document(bytes: document.serialized()) }
            for (name, padding) in [("RS256", _RSA.Signing.Padding.insecurePKCS1v1_5), ("PS256", .PSS)] {
                let token = try token(["alg": .string(name), "kid": "r"]) {
                    try key.signature(for: SHA256.hash(data: $0), padding: padding).rawRepresentation
                }
                #expect(await (refused(token, issuer) == nil) == isTaken, "\(name) \(size)")
            }
            #expect(await refused(try token(["alg": "ES256", "kid": "r"]), issuer) != nil)
        }
    }

    @Test func `Tokens without an algorithm, or with the public key as a password, are refused`() async throws {
        let algorithms = "its algorithm is not one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA"
        for name in ["none", "None", "HS256", "es256", ""] {
            let mac: (Data) -> Data = { [key] in
                Data(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: key.publicKey.rawRepresentation)))
            }
            #expect(await refused(try token(["alg": .string(name), "kid": "one"], sign: mac)) == algorithms)
            #expect(await refused(try token(["alg": .string(name), "kid": "password"], sign: { _ in Data() })) == algorithms)
        }
        #expect(await refused(try token(["kid": "one"])) == algorithms)
        #expect(await refused(try token(["alg": "RS256", "kid": "one"])) == "the issuer has no matching key for RS256")
        #expect(await refused(try token(["alg": "ES384", "kid": "one"])) == "the issuer has no matching key for ES384")
        #expect(await refused(try token(["alg": "ES256", "kid": "ed"])) == "the issuer has no matching key for ES256")
        #expect(
            await refused(try token(["alg": "ES256", "kid": "one", "crit": ["b64"]]))
                == "it has a critical header (crit), which is not supported")
    }

    @Test func `A wrong signature, and a text that is not a token, are refused`() async throws {
        #expect(await refused(try token(sign: { try other.signature(for: $0).rawRepresentation })) == "its signature is invalid")
        #expect(await refused(try token(sign: { _ in Data() })) == "its signature is invalid")
        let parts = try token().split(separator: ".")
        let forged = "\(parts[0]).\(Self.encoded(Self.claims(["sub": "bob"]).serialized())).\(parts[2])"
        #expect(await refused(forged) == "its signature is invalid")
        for text in ["a.b.c", "..", "\(parts[0]).\(parts[1])", String(repeating: "a", count: 20_000) + ".b.c"] {
            #expect(await refused(text) == "it is not a JSON Web Token")
        }
    }

    @Test(
        arguments: [
            ("iss", "https://other.example", "it is from another issuer"), ("iss", nil, "it is from another issuer"),
            ("aud", "mail", "it is for another audience"), ("aud", nil, "it is for another audience"),
            ("aud", [], "it is for another audience"), ("exp", nil, "it has no expiry time (exp)"),
            ("exp", "soon", "it has no expiry time (exp)"), ("exp", .integer(now.seconds - 60), "it has expired"),
            ("exp", .integer(now.seconds - 59), nil), ("nbf", .integer(now.seconds + 61), "it is not valid yet"),
            ("nbf", .integer(now.seconds + 60), nil), ("nbf", "later", "it is not valid yet"),
            ("sub", nil, "its claim sub is not a valid user name"), ("sub", 7, "its claim sub is not a valid user name"),
        ] as [(String, JSON?, String?)])
    func `an invalid claim makes a token invalid`(name: String, value: JSON?, why: String?) async throws {
        let token = try token(["alg": "ES256", "kid": "one"], Self.claims([name: value]))
        #expect(await refused(token) == why)
    }

    // MARK: - Fetching keys

    /// An issuer that replaces its keys, and fails when the test says so.
    private final class Login: Sendable {
        let state = Mutex((document: JSON.null, count: 0, fails: false, age: Duration?.none))

        func document() throws(PushError) -> IssuerKeys.Document {
            let (document, fails, age) = state.withLock { state in
                state.count += 1
                return (state.document, state.fails, state.age)
            }
            if fails { throw PushError("auth.issuer", "it is away") }
            return IssuerKeys.Document(bytes: document.serialized(), maximumAge: age)
        }

        var count: Int { state.withLock { $0.count } }
    }

    @Test func `Keys are fetched on first use, and at most once a minute for an unknown key`() async throws {
        let login = Login()
        login.state.withLock { $0.document = ["keys": [Self.document(key, id: "one")]] }
        let issuer = issuer { () throws(PushError) in try login.document() }
        #expect(login.count == 0)
        for _ in 0..<3 { #expect(await refused(try token(), issuer) == nil) }
        #expect(login.count == 1)
        let next = try token(["alg": "ES256", "kid": "two"], sign: { try other.signature(for: $0).rawRepresentation })
        for _ in 0..<3 { #expect(await refused(next, issuer) == "the issuer has no matching key for ES256") }
        #expect(login.count == 1)
        login.state.withLock { $0.document = ["keys": [Self.document(other, id: "two")]] }
        clock.advance(to: clock.now + .seconds(60))
        for _ in 0..<3 { #expect(await refused(next, issuer) == nil) }
        #expect(await refused(try token(), issuer) == "the issuer has no matching key for ES256")
        #expect(login.count == 2)
    }

    @Test func `Keys are cached as long as the issuer says, within limits, and for one more day if it is unreachable`() async throws {
        let login = Login()
        login.state.withLock { ($0.document, $0.age) = (["keys": [Self.document(key, id: "one")]], .zero) }
        let issuer = issuer { () throws(PushError) in try login.document() }
        let lasting = try token(["alg": "ES256"], Self.claims(["exp": .integer(Self.now.seconds + 200_000)]))
        _ = try await issuer.verified(lasting, now: clock.now)
        clock.advance(to: clock.now + .seconds(59))
        _ = try await issuer.verified(lasting, now: clock.now)
        #expect(login.count == 1)
        login.state.withLock { $0.fails = true }
        clock.advance(to: clock.now + .seconds(1))
        _ = try await issuer.verified(lasting, now: clock.now)
        _ = try await issuer.verified(lasting, now: clock.now)
        #expect(login.count == 2)
        clock.advance(to: clock.now + .seconds(86_400))
        let error = await refusal { try await issuer.verified(lasting, now: clock.now) }
        #expect(error?.code == "auth.issuer" && error?.status == 503 && error?.isRetryable == true)
        login.state.withLock { ($0.fails, $0.age) = (false, .seconds(999_999)) }
        clock.advance(to: clock.now + .seconds(10))
        _ = try await issuer.verified(lasting, now: clock.now)
        let count = login.count
        clock.advance(to: clock.now + .seconds(86_399))
        _ = try await issuer.verified(lasting, now: clock.now)
        #expect(login.count == count)
    }
}
