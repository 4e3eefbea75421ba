import Support
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct FingerprintTableTests {
    /// From all bits to so few that halves of fingerprints collide.
    private static let masks = [
        TagFingerprint(high: .max, low: .max), TagFingerprint(high: 0, low: .max), TagFingerprint(high: .max, low: 0),
        TagFingerprint(high: 0xF << 60, low: .max), TagFingerprint(high: .max, low: 3),
    ]

    @Test(arguments: 0..<5)
    func `The table holds the same as a dictionary, however few bits distinguish its fingerprints`(mask: Int) throws {
        let key = FingerprintKey(first: 1, second: 2, mask: Self.masks[mask])
        let fingerprints = try (0..<700).map { key.fingerprint(of: try Tag("username:u\($0)")) }
        try #require(Set(fingerprints).count == fingerprints.count)
        var random = SplitMix64(seed: UInt64(mask))
        var (table, model): (FingerprintTable, [TagFingerprint: Set<UInt32>]) = (FingerprintTable(), [:])
        for phase in [80, 50, 15, 80, 5] {
            for _ in 0..<3000 {
                let fingerprint = fingerprints[Int.random(in: 0..<fingerprints.count, using: &random)]
                let number = UInt32.random(in: 0..<6, using: &random) &- 3
                if random.chance(phase) {
                    let isNew = model[fingerprint, default: []].insert(number).inserted
                    #expect(table.insert(number, of: fingerprint) == (isNew ? model[fingerprint]?.count : nil))
                } else if random.chance(90) {
                    let was = model[fingerprint]?.remove(number) != nil
                    #expect(table.remove(number, of: fingerprint) == was)
                } else {
                    table.removeAll(of: fingerprint)
                    model[fingerprint] = nil
                }
            }
            table.compact()
            check(table, model, fingerprints)
        }
        for fingerprint in fingerprints { table.removeAll(of: fingerprint) }
        #expect(table.count == 0 && table.fingerprintCount == 0)
    }

    private func check(_ table: FingerprintTable, _ model: [TagFingerprint: Set<UInt32>], _ fingerprints: [TagFingerprint]) {
        #expect(table.count == model.values.reduce(0) { $0 + $1.count })
        #expect(table.fingerprintCount == model.values.count { !$0.isEmpty })
        for fingerprint in fingerprints {
            let numbers = (model[fingerprint] ?? []).sorted()
            #expect(table.numbers(of: fingerprint) == numbers)
            #expect(table.count(of: fingerprint) == numbers.count && table.first(of: fingerprint) == numbers.first)
        }
    }

    @Test func `A bulk insertion equals single ones, including repeated and existing elements`() throws {
        let key = FingerprintKey(first: 7, second: 8)
        let fingerprints = try (0..<3000).map { key.fingerprint(of: try Tag("t\($0)")) }
        var random = SplitMix64(seed: 9)
        var (bulk, single) = (FingerprintTable(), FingerprintTable())
        for round in 0..<8 {
            let entries = (0..<1 << (round + 3)).map { _ in
                FingerprintTable.Entry(
                    fingerprints[Int.random(in: 0..<fingerprints.count, using: &random)], UInt32.random(in: 0..<3, using: &random))
            }
            let crowded = bulk.insert(contentsOf: entries, limit: 1)
            for entry in entries { _ = single.insert(entry.number, of: entry.fingerprint) }
            #expect(Set(crowded).isSuperset(of: entries.map(\.fingerprint).filter { single.count(of: $0) > 1 }))
            #expect(crowded.allSatisfy { single.count(of: $0) > 1 })
            #expect(bulk.count == single.count && bulk.fingerprintCount == single.fingerprintCount)
            #expect(fingerprints.allSatisfy { bulk.numbers(of: $0) == single.numbers(of: $0) })
        }
    }

    @Test func `A tag with very many rows in any order equals one with sorted rows`() throws {
        let key = FingerprintKey(first: 7, second: 8)
        let fingerprint = key.fingerprint(of: try Tag("everybody"))
        let orders: [[UInt32]] = [(0..<50_000).reversed(), (0..<50_000).map { $0 &* 0x9E37_79B9 }]
        for numbers in orders {
            var table = FingerprintTable()
            #expect(table.insert(contentsOf: numbers.map { FingerprintTable.Entry(fingerprint, $0) }, limit: 64) == [fingerprint])
            #expect(table.numbers(of: fingerprint) == numbers.sorted() && table.count == numbers.count)
        }
    }

    @Test func `A copy is unchanged while the original grows and shrinks`() throws {
        let key = FingerprintKey(first: 3, second: 4)
        let fingerprints = try (0..<5000).map { key.fingerprint(of: try Tag("t\($0)")) }
        var table = FingerprintTable()
        for (number, fingerprint) in fingerprints.enumerated() { _ = table.insert(UInt32(number), of: fingerprint) }
        let copy = table
        for (number, fingerprint) in fingerprints.enumerated() where number % 50 != 0 { table.remove(UInt32(number), of: fingerprint) }
        #expect(table.count == 100 && copy.count == 5000)
        for (number, fingerprint) in fingerprints.enumerated() {
            #expect(copy.first(of: fingerprint) == UInt32(number))
            #expect(table.first(of: fingerprint) == (number % 50 == 0 ? UInt32(number) : nil))
        }
    }

    @Test func `An index distinguishes tags whose fingerprints agree in most of their bits`() throws {
        for mask in Self.masks {
            var index = AudienceIndex(key: FingerprintKey(first: 5, second: 6, mask: mask), rareLimit: 3)
            let tags = try (0..<300).map { try Tag("u\($0)") }
            for id in 0..<1500 as Range<UInt32> { index.insert(id, tags: [tags[Int(id % 300)], tags[Int(id / 5)]]) }
            for (number, tag) in tags.enumerated() {
                let expected = (0..<1500 as Range<UInt32>).filter { Int($0 % 300) == number || Int($0 / 5) == number }
                #expect(index.select(.tag(tag)) == expected)
            }
            #expect(index.select(.tag(try Tag("u300"))).isEmpty)
            #expect(index.tagCount == 300)
        }
    }
}

@Suite struct TagFingerprintTests {
    /// SipHash-2-4-128 of the bytes 0, 1, 2, … with the key 00 01 … 0f, as published by its authors (vectors_sip128).
    @Test(arguments: [
        (0, "a3817f04ba25a8e66df67214c7550293"),
        (1, "da87c1d86b99af44347659119b22fc45"),
        (7, "a1f1ebbed8dbc153c0b84aa61ff08239"),
        (8, "3b62a9ba6258f5610f83e264f31497b4"),
        (9, "264499060ad9baabc47f8b02bb6d71ed"),
        (15, "5493e99933b0a8117e08ec0f97cfc3d9"),
        (16, "6ee2a4ca67b054bbfd3315bf85230577"),
        (31, "2939b0183223fafc1723de4f52c43d35"),
        (63, "5150d1772f50834a503e069a973fbd7c"),
    ])
    func `The hash is SipHash`(length: Int, expected: String) {
        let key = FingerprintKey(first: 0x0706_0504_0302_0100, second: 0x0f0e_0d0c_0b0a_0908)
        let digest = (0..<UInt8(length)).map { $0 }.withUnsafeBytes { key.digest($0) }
        let bytes = [digest.high, digest.low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        #expect(bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() == expected)
    }

    @Test func `Fingerprints depend on the key of the process`() throws {
        let tag = try Tag("username:alice")
        let (one, other) = (FingerprintKey(first: 1, second: 2), FingerprintKey(first: 1, second: 3))
        #expect(one.fingerprint(of: tag) == one.fingerprint(of: try Tag("Username:ALICE")))
        #expect(one.fingerprint(of: tag) != other.fingerprint(of: tag))
        #expect(FingerprintKey.process.fingerprint(of: tag) == FingerprintKey.process.fingerprint(of: tag))
        #expect(one.fingerprint(of: try Tag("größe")) != other.fingerprint(of: try Tag("größe")))
    }
}
