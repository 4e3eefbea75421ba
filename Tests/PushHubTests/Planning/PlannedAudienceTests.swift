import Support
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct PlannedAudienceTests {
    private static func kind(_ number: Int) -> PlannedAudience.Kind {
        PlannedAudience.Kind(
            platform: Platform.allCases[number % Platform.allCases.count], templateName: number % 3 == 0 ? nil : "t\(number)",
            isTemplate: number % 3 != 0, bytes: number % 5 == 0 ? nil : number * 100, mark: UInt64(number) << 40, isRefused: number % 4 == 0
        )
    }

    private static func audience(_ count: Int, kinds: Int = 5, seed: UInt64 = 1) -> PlannedAudience {
        let random = SeededRandom(seed: seed)
        var audience = PlannedAudience(kinds: (0..<kinds).map(kind))
        var row: UInt32 = 0
        for number in 0..<count {
            row += 1 + UInt32(random.next() % 3)
            let id = number % 50 == 7 ? RegistrationID("00\(number)-5-77") : RegistrationID(random: random)
            let packed = id.flatMap { PackedRegistrationID($0) }
            if packed == nil { audience.unusual[row] = id }
            audience.members.append(
                PlannedAudience.Member(packed, at: row, kind: Int(random.next() % UInt64(kinds)), isDuplicate: number % 11 == 0))
        }
        return audience
    }

    private static func read(_ parts: [[UInt8]]) -> PlannedAudience? {
        var read = PlannedAudience()
        for part in parts where !read.append(part: part) { return nil }
        return read
    }

    @Test(arguments: [0, 1, 300, PlannedAudience.partSize, PlannedAudience.partSize + 3])
    func `A stored audience is read back, in parts`(count: Int) throws {
        let audience = Self.audience(count)
        let parts = audience.parts
        #expect(parts.count == PlannedAudience.partCount(of: count))
        let read = try #require(Self.read(parts))
        #expect(read.count == count && read.difference(to: audience).count == 0)
        #expect(read.members.map { read.kinds[$0.kind] } == audience.members.map { audience.kinds[$0.kind] })
        #expect(read.members.map(\.isDuplicate) == audience.members.map(\.isDuplicate))
        #expect(read.members.map { read.id(of: $0) } == audience.members.map { audience.id(of: $0) })
    }

    @Test func `An audience of many kinds is read back, too`() throws {
        let audience = Self.audience(400, kinds: 300)
        let read = try #require(Self.read(audience.parts))
        #expect(read.members.map { read.kinds[$0.kind] } == audience.members.map { audience.kinds[$0.kind] })
        #expect(read.difference(to: audience).count == 0)
    }

    @Test func `An audience uses about 20 bytes per device`() {
        let bytes = Self.audience(100_000).parts.reduce(0) { $0 + $1.count }
        #expect(bytes < 2_100_000)
    }

    @Test func `Invalid bytes are rejected, and nothing crashes`() {
        let random = SeededRandom(seed: 3)
        let part = Self.audience(120).parts[0]
        for _ in 0..<2000 {
            var broken = part
            switch random.next() % 3 {
            case 0: broken[Int(random.next() % UInt64(broken.count))] ^= UInt8(truncatingIfNeeded: 1 << (random.next() % 8))
            case 1: broken.removeLast(1 + Int(random.next() % UInt64(broken.count)))
            default: broken.append(UInt8(truncatingIfNeeded: random.next()))
            }
            var read = PlannedAudience()
            if read.append(part: broken) { #expect(read.count <= broken.count) }
        }
        var read = PlannedAudience()
        let isRead = read.append(part: Array(part.dropLast()))
        #expect(!isRead)
    }

    @Test func `A new registration in the row of a removed one is another device`() {
        let audience = Self.audience(10)
        var later = audience
        let random = SeededRandom(seed: 99)
        later.members[3] = PlannedAudience.Member(
            PackedRegistrationID(RegistrationID(random: random)), at: later.members[3].row, kind: later.members[3].kind,
            isDuplicate: false)
        let difference = audience.difference(to: later)
        #expect(difference.joined == [3] && difference.left == [3] && difference.changed.isEmpty)
    }

    @Test func `A registration that was restored in another row is the same device`() {
        let audience = Self.audience(10)
        var later = audience
        var moved = later.members.remove(at: 2)
        moved.row = (later.members.last?.row ?? 0) + 5
        later.members.append(moved)
        #expect(audience.difference(to: later).count == 0)
        later.members[9] = PlannedAudience.Member(moved.packed, at: moved.row, kind: (moved.kind + 1) % 5, isDuplicate: false)
        #expect(audience.difference(to: later).changed == [9])
    }

    @Test(arguments: [
        ("0", 0), ("250", 250), ("2%", 20), ("0.5%", 5), ("0.25%", 2), ("100%", 1000), ("0.05%", 0), ("1.05%", 10),
    ])
    func `A tolerance is a number of devices or a share of the plan`(text: String, most: Int) throws {
        let tolerance = try DriftTolerance(text)
        #expect(tolerance.most(of: 1000) == most)
        #expect(try DriftTolerance(tolerance.description) == tolerance)
    }

    @Test(arguments: ["", "%", "-1", "101%", "1.234%", "2 %", "ten", "1.%", ".5%", "99999999999"])
    func `An invalid tolerance is rejected`(text: String) {
        #expect(throws: PushError.self) { try DriftTolerance(text) }
    }

    @Test func `The id of a plan contains its number`() {
        for number in [1, 42, 9999, 123_456] as [Int64] { #expect(PlanID.number(of: PlanID.text(number)) == number) }
        for text in ["", "p-", "p-0", "p-1", "n-0001", "p-00001", "p-0x01", "P-0001", "p-99999999999999999999"] {
            #expect(PlanID.number(of: text) == nil)
        }
    }
}
