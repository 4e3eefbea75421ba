import Crypto
import Foundation
import Simulators
import Testing

@Suite struct WebPushDecryptionTests {
    let bench = WebPushBench()

    /// RFC 8291, section 5 and appendix A: the browser's keys are those of the example.
    @Test func `a browser with the keys of RFC 8291 decrypts the message of RFC 8291`() async throws {
        let key = try #require(TokenText.bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
        let secret = try #require(TokenText.bytes("BTBZMqHH6r4Tts7J_aSIgg"))
        let bench = WebPushBench(
            random: SimulatorRandom { count in
                [UInt8](count == 32 ? key : count == 16 ? secret : Data(repeating: 1, count: count))
            })
        let keys = try bench.subscription().keys
        #expect(keys.p256dh == "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
        #expect(keys.auth == "BTBZMqHH6r4Tts7J_aSIgg")
        let message = try #require(
            TokenText.bytes(
                "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz"
                    + "AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"))
        #expect(try await bench.send(body: [UInt8](message)).status == 201)
        #expect(bench.items.first?.text == "When I grow up, I want to be a watermelon")
    }

    @Test func `padding is removed`() async throws {
        try await bench.send(body: bench.seal(Array("Hello".utf8), padding: [2] + Array(repeating: 0, count: 100)))
        #expect(bench.items.first?.text == "Hello")
    }

    private func reason(_ body: [UInt8]) async throws -> String? {
        #expect(try await bench.send(body: body).status == 201)
        let item = try #require(bench.items.last)
        #expect(!item.isShown && item.data.isEmpty && item.text.isEmpty)
        return item.reasonNotShown?.split(separator: ": ").last.map(String.init)
    }

    @Test func `a message that the browser cannot decrypt is accepted by the service and dropped by the browser`() async throws {
        let good = try bench.seal(Array("Hello".utf8))
        var changed = good
        changed[changed.count - 1] ^= 1
        let stranger = TokenText.base64URL(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
        let lost = "it was encrypted with other keys, or modified in transit"
        #expect(try await reason(changed) == lost)
        changed = good
        changed[0] ^= 1
        #expect(try await reason(changed) == lost)
        #expect(try await reason(bench.seal([], p256dh: stranger)) == lost)
        #expect(try await reason(bench.seal([], auth: "AAAAAAAAAAAAAAAAAAAAAA")) == lost)
        changed = good
        changed[40] ^= 1
        #expect(try await reason(changed) == "its key id is not a P-256 key")
        changed = good
        changed[20] = 64
        #expect(try await reason(changed) == "its key id is not a P-256 key")
        for count in [1, 20, 21, 85] {
            #expect(try await reason(Array(good[..<count])) == "it has no aes128gcm header")
        }
        for count in [86, 102] { #expect(try await reason(Array(good[..<count])) == "its record is too short") }
        #expect(try await reason(bench.seal(Array("Hello".utf8), recordSize: 21)) == "it has more than one record")
        #expect(try await reason(bench.seal(Array("Hello".utf8), recordSize: 17)) == "it has more than one record")
        for padding: [UInt8] in [[1], [], [0, 0], [3, 0]] {
            #expect(
                try await reason(bench.seal([0x61], padding: padding))
                    == "its padding is not that of a last record")
        }
        #expect(
            bench.log.kinds.filter { if case .dropped = $0 { true } else { false } }.count == bench.items.count)
        try await bench.send(body: good)
        #expect(bench.items.last?.isShown == true)
    }
}
