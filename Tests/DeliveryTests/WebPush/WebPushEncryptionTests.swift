import Crypto
import Delivery
import Foundation
import PushModel
import Synchronization
import Testing

@Suite struct WebPushEncryptionTests {
    private static let plaintext = Array("When I grow up, I want to be a watermelon".utf8)

    private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

    /// RFC 8291, appendix A.
    @Test func `the example of RFC 8291 is reproduced, with every intermediate value`() throws {
        let sender = try P256.KeyAgreement.PrivateKey(
            rawRepresentation: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
        let recipient = try #require(WebPushRecipient(p256dh: DeliveryBatch.p256dh, auth: DeliveryBatch.auth))
        let encryption = try WebPushEncryption(
            recipient: recipient, sender: sender, salt: bytes("DGv6ra1nlYgDCS1FRnbzlw"))
        #expect(Base64URL.encode(encryption.ecdhSecret) == "kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs")
        #expect(Base64URL.encode(encryption.prkKey) == "Snr3JMxaHVDXHWJn5wdC52WjpCtd2EIEGBykDcZW32k")
        #expect(
            Base64URL.encode(encryption.keyInfo)
                == "V2ViUHVzaDogaW5mbwAEJXGyvs3942BVGq8e0PTNNmwRzr5VX4m8t7GGpTM5FzFo7OLr4BhZe9MEebhuPI-OztV3"
                + "ylkYfpJGmQ22ggCLDgT-M_SrDepxkU21WCP3O1SUj0EwbZIHMtu5pZpTKGSCIA5Zent7wmC6HCJ5mFgJkuk5cwAvMBKiiujwa7t45ewP")
        #expect(Base64URL.encode(encryption.ikm) == "S4lYMb_L0FxCeq0WhDx813KgSYqU26kOyzWUdsXYyrg")
        #expect(Base64URL.encode(encryption.content.prk) == "09_eUZGrsvxChDCGRCdkLiDXrReGOEVeSCdCcPBSJSc")
        #expect(Base64URL.encode(encryption.content.cek) == "oIhVW04MRdy2XN9CiKLxTg")
        #expect(Base64URL.encode(encryption.content.nonce) == "4h_95klXJ5E_qnoN")
        #expect(
            Base64URL.encode(try encryption.content.seal(Self.plaintext))
                == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz"
                + "AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
    }

    /// RFC 8188, section 3.1.
    @Test func `the example of RFC 8188 is reproduced`() throws {
        let content = try EncryptedContent(
            ikm: bytes("yqdlZ-tYemfogSmv7Ws5PQ"), salt: bytes("I1BsxtFttlv3u_Oo94xnmw"), keyID: [])
        #expect(Base64URL.encode(content.prk) == "zyeH5phsIsgUyd4oiSEIy35x-gIi4aM7y0hCF8mwn9g")
        #expect(Base64URL.encode(content.cek) == "_wniytB-ofscZDh4tbSjHw")
        #expect(Base64URL.encode(content.nonce) == "Bcs8gkIRKLI8GeI8")
        #expect(
            Base64URL.encode(try content.seal(Array("I am the walrus".utf8)))
                == "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
    }

    private func body(of batch: DeliveryBatch, random: any RandomSource) async throws -> [[UInt8]] {
        let transport = ScriptedTransport([])
        let connector = try WebPushConnector(
            settings: Accounts.webPush, transport: transport, clock: VirtualClock(now: Accounts.start), random: random)
        _ = await connector.deliver(batch)
        return transport.pushes.map(\.body)
    }

    @Test func `two messages never share a key or a salt, even with the same text for the same browser`() async throws {
        let endpoint = "https://push.example.com/p/1"
        let bodies = try await body(
            of: .browser(endpoints: [endpoint, endpoint, endpoint]), random: SeededRandom(seed: 1))
        #expect(Set(bodies.map { $0[..<16] }).count == 3)
        #expect(Set(bodies.map { $0[21..<86] }).count == 3)
        #expect(Set(bodies.map { $0[86...] }).count == 3)
    }

    @Test func `the same random numbers give the same bytes, others give other bytes`() async throws {
        let first = try await body(of: .browser(), random: SeededRandom(seed: 1))
        #expect(try await body(of: .browser(), random: SeededRandom(seed: 1)) == first)
        #expect(try await body(of: .browser(), random: SeededRandom(seed: 2)) != first)
    }

    /// The order of P-256 is slightly less than 2^256, and 0 is not a valid key.
    @Test(arguments: [UInt64.max, 0])
    func `bytes that are not a valid private key are discarded`(word: UInt64) async throws {
        let plain = try await body(of: .browser(), random: SeededRandom(seed: 1))
        let late = try await body(of: .browser(), random: LateRandom(word: word, count: 4, then: SeededRandom(seed: 1)))
        #expect(late == plain)
    }

    @Test func `random numbers that never give a key lead to an error, not a hang`() async throws {
        let transport = ScriptedTransport([])
        let connector = try WebPushConnector(
            settings: Accounts.webPush, transport: transport, clock: VirtualClock(now: Accounts.start),
            random: LateRandom(word: 0, count: .max, then: SeededRandom(seed: 1)))
        #expect(await connector.deliver(.browser()).first?.rejection?.reason == "EncryptionFailed")
        #expect(transport.all.isEmpty)
    }

    @Test(
        arguments: [
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAix4",
            "AyVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx", "", "*",
        ])
    func `a key that is not a point of the curve is refused before sending`(p256dh: String) async throws {
        let transport = ScriptedTransport([])
        let connector = try WebPushConnector(
            settings: Accounts.webPush, transport: transport, clock: VirtualClock(now: Accounts.start),
            random: SeededRandom(seed: 1))
        let rejection = await connector.deliver(.browser(p256dh: p256dh)).first?.rejection
        #expect(rejection?.reason == "BadKeys")
        #expect(rejection?.outcome == .badChannel)
        #expect(transport.all.isEmpty)
    }

    @Test func `base64url follows RFC 4648, without padding`() {
        for (text, bytes) in [("", []), ("Zg", [0x66]), ("Zm8", [0x66, 0x6f]), ("-_-_", [0xfb, 0xff, 0xbf])] as [(String, [UInt8])] {
            #expect(Base64URL.encode(bytes) == text)
            #expect(Base64URL.decode(text) == bytes)
        }
        for text in ["Z", "Zg==", "+/+/", "Zm 8", "Zm8\n"] { #expect(Base64URL.decode(text) == nil) }
    }
}

/// Returns the same word a number of times, then the values of another source.
private final class LateRandom: RandomSource {
    private let word: UInt64
    private let left: Mutex<Int>
    private let rest: any RandomSource

    init(word: UInt64, count: Int, then next: any RandomSource) {
        self.word = word
        left = Mutex(count)
        self.rest = next
    }

    func next() -> UInt64 {
        let isEarly = left.withLock { left in
            left -= 1
            return left >= 0
        }
        return isEarly ? word : rest.next()
    }
}
