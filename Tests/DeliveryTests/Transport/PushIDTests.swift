import PushModel
import Testing

@testable import Delivery

@Suite struct PushIDTests {
    @Test func `an id is the text of the same UUID`() {
        let random = SeededRandom(seed: 7)
        for _ in 0..<1_000 {
            let text = random.uuid()
            #expect(PushID(text)?.description == text)
        }
    }

    @Test func `the same copy of a notification has the same id in every attempt, and another copy has another id`() {
        var seen: Set<PushID> = []
        for notification in ["n-0001", "n-0002"] {
            for body in ["{}", "{ }"] {
                let series = PushIDSeries(notificationID: notification, body: Array(body.utf8))
                for number in 0..<20_000 {
                    let id = series.id(of: "\(number)")
                    seen.insert(id)
                    #expect(PushIDSeries(notificationID: notification, body: Array(body.utf8)).id(of: "\(number)") == id || number > 50)
                }
            }
        }
        #expect(seen.count == 80_000)
    }

    @Test func `ids of similar tokens are UUIDs of version 8 that differ widely`() {
        let series = PushIDSeries(notificationID: "n-0001", body: [])
        let token = String(repeating: "00", count: 32)
        let one = series.id(of: token)
        #expect(one.description.dropFirst(14).first == "8" && "89ab".contains(one.description.dropFirst(19).first ?? "-"))
        for destination in 0..<64 {
            var other = Array(token.utf8)
            other[destination] = UInt8(ascii: "1")
            let id = series.id(of: String(decoding: other, as: UTF8.self))
            let bits = (id.high ^ one.high).nonzeroBitCount + (id.low ^ one.low).nonzeroBitCount
            #expect((30...92).contains(bits))
        }
        #expect(series.id(of: "") != series.id(of: "\0") && series.id(of: "\0") != series.id(of: "\0\0"))
    }

    @Test(arguments: [
        "", "11111111-2222-4333-8444-55555555555", "11111111-2222-4333-8444-5555555555555", "11111111-2222-4333-8444-55555555555A",
        "11111111x2222-4333-8444-555555555555", "1111111--2222-4333-8444-555555555555", "g1111111-2222-4333-8444-555555555555",
    ])
    func `any other text is not an id`(text: String) {
        #expect(PushID(text) == nil)
    }
}
