import PushCore
import Testing

@testable import Delivery

@Suite struct PushIDTests {
    @Test func `a random id is the UUID that the same numbers make`() {
        let (one, other) = (SeededRandom(seed: 7), SeededRandom(seed: 7))
        for _ in 0..<1_000 {
            let id = PushID(random: one)
            #expect(id.description == other.uuid())
            #expect(PushID(id.description) == id)
        }
    }

    @Test func `successors differ and stay UUIDs of version 4`() {
        var id = PushID(high: 0x0011_2233_4455_4677, low: 0xbfff_ffff_ffff_fffe)
        var seen: Set<String> = []
        for _ in 0..<5 {
            seen.insert(id.description)
            #expect(id.description.dropFirst(14).first == "4")
            #expect("89ab".contains(id.description.dropFirst(19).first ?? "-"))
            id = id.successor
        }
        #expect(seen.count == 5)
    }

    @Test(arguments: [
        "", "11111111-2222-4333-8444-55555555555", "11111111-2222-4333-8444-5555555555555", "11111111-2222-4333-8444-55555555555A",
        "11111111x2222-4333-8444-555555555555", "1111111--2222-4333-8444-555555555555", "g1111111-2222-4333-8444-555555555555",
    ])
    func `any other text is none`(text: String) {
        #expect(PushID(text) == nil)
    }
}
