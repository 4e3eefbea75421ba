import Crypto
import Foundation
import HTTPTypes
import Testing

@testable import Simulators

/// Provider tokens as common libraries write them, byte for byte.
@Suite struct APNsTokenFormTests {
    /// The P-256 key of the examples in RFC 6979, A.2.5, with which the tokens below were signed at 1800000000.
    private static let scalar = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"

    /// pushy 0.15: `Signature.sign()` of Java returns ASN.1 DER, and the token contains it unchanged.
    private static let pushy =
        "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IktFWTEyMzQ1NjcifQ.eyJpc3MiOiJURUFNMTIzNDU2IiwiaWF0IjoxODAwMDAwM"
        + "DAwfQ.MEQCIG6xAQ6B6kJMziudWNakGPl5kaWYEW826UpX2FwjAooRAiAaSuVoPf0UkXI4nPz1-Qm9fmExZpwv0O7AfY22xS1exg"
    /// PyAPNs2 0.8: `iat` is `time.time()`, here 1800000000.123456.
    private static let pyAPNs2 =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IktFWTEyMzQ1NjciLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJURUFNMTIzNDU2IiwiaWF0IjoxODAwMDAwM"
        + "DAwLjEyMzQ1Nn0.ZB8YsBN6FoLkkWuqr7Afapq2wPkZ77ViNK07YpfBG9AnGZlz9H3D1MkPa8_U1RUyz7u6ADZHbOHtlkDXI3BqEw"
    /// kalyke-apns 1.5: `iat` is `str(int(datetime.now().timestamp()))`.
    private static let kalyke =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IktFWTEyMzQ1NjciLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJURUFNMTIzNDU2IiwiaWF0IjoiMTgwMDAwM"
        + "DAwMCJ9.1dPva-jtk26lX7gBQCZijRSWU9nKSnUGr4Uu4h3VRW9SHkPIShyV9WFjPQ_S-sTxOH8BH2HiMp-f_PjiNzi49g"

    private let bench: APNsBench
    private let key: P256.Signing.PrivateKey

    init() throws {
        bench = APNsBench()
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { index in
            UInt8(Self.scalar.dropFirst(index).prefix(2), radix: 16)
        }
        key = try P256.Signing.PrivateKey(rawRepresentation: bytes)
        bench.simulator.trust(key: key.publicKey, kid: "KEY1234567")
    }

    private func verdict(_ token: String) async throws -> String {
        try await bench.verdict { $0.set("authorization", "bearer \(token)") }
    }

    /// A token with these claims, and its signature in either form.
    private func token(issuedAt: String, isDER: Bool = false) throws -> String {
        let header = TokenText.base64URL(Array(#"{"alg":"ES256","kid":"KEY1234567"}"#.utf8))
        let claims = TokenText.base64URL(Array(#"{"iss":"TEAM123456","iat":\#(issuedAt)}"#.utf8))
        let signature = try key.signature(for: Data("\(header).\(claims)".utf8))
        return "\(header).\(claims).\(TokenText.base64URL(isDER ? signature.derRepresentation : signature.rawRepresentation))"
    }

    @Test(arguments: [Self.pushy, Self.pyAPNs2, Self.kalyke])
    func `tokens of pushy, PyAPNs2 and kalyke are accepted, and refused in strict mode`(token: String) async throws {
        #expect(try await verdict(token) == "200")
        bench.simulator.update { $0.tokenRules.isStrict = true }
        #expect(try await verdict(token) == "403 InvalidProviderToken")
        // The form in Apple's documentation is valid in both modes.
        #expect(try await verdict(self.token(issuedAt: "1800000000")) == "200")
    }

    @Test(arguments: ["1800000000", "1800000000.5", "1.8e9", #""1800000000""#, #""1800000000.75""#])
    func `a time of an hour ago is too old in every form`(issuedAt: String) async throws {
        #expect(try await verdict(token(issuedAt: issuedAt, isDER: true)) == "200")
        bench.time.advance(seconds: 3601)
        #expect(try await verdict(token(issuedAt: issuedAt)) == "403 ExpiredProviderToken")
    }

    @Test(arguments: [
        "null", "true", "[]", #""""#, #""soon""#, #""1800000000 ""#, #""0x6b49d200""#, #""1e400""#, #""NaN""#, #"{"seconds":1800000000}"#,
    ])
    func `an invalid time is refused`(issuedAt: String) async throws {
        #expect(try await verdict(token(issuedAt: issuedAt)) == "403 InvalidProviderToken")
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1e18", "-1e18"])
    func `extreme times are out of range and do no harm`(issuedAt: String) async throws {
        #expect(try await verdict(token(issuedAt: issuedAt)) == "403 ExpiredProviderToken")
    }

    @Test func `a DER signature of another key, or with bytes after it, is refused`() async throws {
        let parts = Self.pushy.split(separator: ".")
        let other = try P256.Signing.PrivateKey().signature(for: Data("\(parts[0]).\(parts[1])".utf8)).derRepresentation
        #expect(try await verdict("\(parts[0]).\(parts[1]).\(TokenText.base64URL(other))") == "403 InvalidProviderToken")
        let own = try #require(TokenText.bytes(String(parts[2])))
        for bytes in [own + [0], own.dropLast(), own.dropFirst(), own + own] {
            #expect(try await verdict("\(parts[0]).\(parts[1]).\(TokenText.base64URL(bytes))") == "403 InvalidProviderToken")
        }
    }

    @Test func `three tokens in twenty minutes are accepted by default`() async throws {
        bench.simulator.update { $0.tokenRules.updatesPerTwentyMinutes = 5 }
        for number in 0..<5 { #expect(try await verdict(token(issuedAt: "\(1_800_000_000 - number)")) == "200") }
        #expect(try await verdict(token(issuedAt: "1799999990")) == "429 TooManyProviderTokenUpdates")
    }
}
