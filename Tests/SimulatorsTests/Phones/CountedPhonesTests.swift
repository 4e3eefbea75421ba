import HTTPTypes
import Testing

@testable import Simulators

/// A large number of phones, of which only counts are stored.
@Suite struct CountedPhonesTests {
    @Test func `phones are found, and no others, while their number grows`() throws {
        var crowd = CountedPhones()
        let kind = CountedPhones.Kind(app: "app", environment: .production)
        var generator = UInt64(7)
        // Some tokens are consecutive, some are random.
        let texts = (0..<5000).map { number in
            generator = generator &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return number % 2 == 0
                ? String(repeating: "0", count: 56) + hex(UInt32(number)) : (0..<8).map { _ in hex(UInt32(generator >> 32)) }.joined()
        }
        for (index, text) in texts.enumerated() {
            let token = try #require(CountedPhoneToken(text))
            #expect(crowd.memberIndex(of: token) == nil)
            let joined = crowd.join(token, kind)
            #expect(joined == index)
        }
        for (index, text) in texts.enumerated() { #expect(crowd.memberIndex(of: try #require(CountedPhoneToken(text))) == index) }
        #expect(crowd.memberIndex(of: try #require(CountedPhoneToken(String(repeating: "f", count: 64)))) == nil)
        #expect(crowd.count == 5000)
        crowd.addPush(3)
        crowd.addPush(3)
        crowd.addPush(4)
        #expect(crowd.statistics(upTo: 3) == [4998, 1, 1, 0])
        #expect(crowd.statistics(upTo: 1) == [4998, 2])
        crowd.remove(3)
        #expect(crowd.count == 4999)
        #expect(crowd.memberIndex(of: try #require(CountedPhoneToken(texts[3]))) == nil)
        #expect(crowd.memberIndex(of: try #require(CountedPhoneToken(texts[4]))) == 4)
    }

    private func hex(_ number: UInt32) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
    }

    @Test(arguments: ["", "ab", String(repeating: "a", count: 65), String(repeating: "g", count: 64), String(repeating: "A", count: 64)])
    func `a text that is not a token of 32 bytes cannot be a member`(text: String) { #expect(CountedPhoneToken(text) == nil) }

    @Test func `a limit per minute applies to each member`() throws {
        var crowd = CountedPhones()
        let token = try #require(CountedPhoneToken(String(repeating: "a", count: 64)))
        let joined = crowd.join(token, .init(app: "app", environment: .production))
        let index = try #require(joined)
        let admitted = [10, 10, 10, 11].map { crowd.admit(index, minute: $0, limit: 2) }
        #expect(admitted == [true, true, false, true])
    }

    @Test func `phones beyond the limit of full phones are only counted, until one is inspected`() async throws {
        let network = try await SimulatorNetwork(adopts: true, fullPhoneLimit: 2)
        let caller = try await HTTP2Caller(network)
        let tokens = (1...5).map { String(repeating: String($0), count: 64) }
        for token in tokens + tokens[3...] { #expect(try await caller.send(network.push(to: token)).verdict == "200") }
        #expect(try network.control(.get, "/phones")["phones"]?.elements?.count == 2)
        let statistics = try network.control(.get, "/crowd")
        #expect(statistics["phones"]?.integer == 3 && statistics["pushes"]?.integer == 5)
        #expect(statistics["by_pushes"]?.elements?.compactMap(\.integer) == [0, 1, 2, 0, 0, 0, 0, 0, 0])
        #expect(try network.control(.get, "/phones/\(tokens[4])")["inbox"]?.elements?.isEmpty == true)
        #expect(try await caller.send(network.push(to: tokens[4])).verdict == "200")
        #expect(try network.control(.get, "/phones/\(tokens[4])")["inbox"]?.elements?.count == 1)
        #expect(try network.control(.get, "/crowd")["phones"]?.integer == 2)
        // Removing the app of a member works as for any phone.
        _ = try network.control(.delete, "/phones/\(tokens[3])")
        let gone = try await caller.send(network.push(to: tokens[3]))
        #expect(gone.verdict == "410 Unregistered" && gone.text.contains(#""timestamp":\#(network.time.now)"#))
        #expect(try await caller.send(network.push(to: tokens[2], host: "api.sandbox.push.apple.com")).verdict == "400 BadDeviceToken")
        try await caller.close()
        await network.end()
    }

    @Test(arguments: [nil, 2] as [Int?])
    func `a full lab refuses further handles with its own reason`(fullPhoneLimit: Int?) async throws {
        let network = try await SimulatorNetwork(adopts: true, fullPhoneLimit: fullPhoneLimit, adoptionLimit: 3)
        _ = try network.phone("ana")
        let caller = try await HTTP2Caller(network)
        let tokens = (1...5).map { String(repeating: String($0), count: 64) }
        var answers: [String] = []
        for token in tokens { answers.append(try await caller.send(network.push(to: token)).verdict) }
        #expect(answers == ["200", "200", "200", "507 LabFull", "507 LabFull"])
        #expect(network.server.phones.adoptedHandles == 3 && network.server.phones.adoptionLimit == 3)
        // A wrong token and a known one are answered as usual.
        #expect(try await caller.send(network.push(to: "0123")).verdict == "400 BadDeviceToken")
        #expect(try await caller.send(network.push(to: tokens[2])).verdict == "200")
        try await caller.close()
        await network.end()
    }

    @Test func `removing a phone from a full lab makes room for another`() throws {
        let time = ManualTime()
        let lab = PhoneLab(clock: time.clock, random: time.random, adoption: HandleAdoption(limit: 1))
        let phone = PhoneDescription(name: "a", platform: .fcm, app: PhoneApp("app"))
        let first = try #require(lab.record(of: "a", adoptingAs: phone))
        #expect(lab.isFull(isKnown: false) && lab.record(of: "b", adoptingAs: phone) == nil)
        lab.remove([first.phone])
        #expect(!lab.isFull(isKnown: false) && lab.record(of: "b", adoptingAs: phone) != nil)
    }

    @Test func `a phone with a chosen token exists before its first push`() async throws {
        let network = try await SimulatorNetwork()
        let token = String(repeating: "5", count: 64)
        _ = try network.control(
            .post, "/phones", #"{"name": "eve", "platform": "apns", "handle": "\#(token)", "environment": "development"}"#)
        let caller = try await HTTP2Caller(network)
        #expect(try await caller.send(network.push(to: token)).verdict == "400 BadDeviceToken")
        #expect(try await caller.send(network.push(to: token, host: "api.sandbox.push.apple.com")).verdict == "200")
        #expect(try network.control(.get, "/phones/eve")["inbox"]?.elements?.count == 1)
        try await caller.close()
        await network.end()
    }
}
