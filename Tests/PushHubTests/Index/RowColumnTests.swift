import Support
import Testing

@testable import PushHub
@testable import PushModel

@Suite struct RowColumnTests {
    @Test func `Ids are packed if their numbers determine them, and unpack unchanged`() throws {
        for text in ["0-0-0", "1-2-1", "9999999999999999999-1000000000000000000-14", "7815580085530103-4155190016-3"] {
            let id = try #require(RegistrationID(text))
            #expect(PackedRegistrationID(id)?.id == id)
        }
        for text in ["01-2-1", "1-00-1", "1-2-15", "1-2-01"] { #expect(PackedRegistrationID(try #require(RegistrationID(text))) == nil) }
        for text in ["", "1", "1-2", "1-2-3-4", "-2-3", "1--3", "1-2-", "1-2-x", "12345678901234567890-1-1"] {
            #expect(Array(text.utf8).withUnsafeBytes { PackedRegistrationID($0) } == nil)
        }
    }

    @Test func `Ids of any length are packed by their digits, and rejected with an invalid byte`() throws {
        let random = SeededRandom(seed: 12)
        for _ in 0..<20_000 {
            let numbers = (0..<2).map { _ in random.next() % UInt64((0..<random.next() % 20).reduce(1.0) { power, _ in power * 10 }) }
            let text = "\(numbers[0])-\(numbers[1])-\(random.next() % 15)"
            var bytes = Array(text.utf8)
            let packed = bytes.withUnsafeBytes { PackedRegistrationID($0) }
            #expect(packed?.first == numbers[0] && packed?.second == numbers[1] && packed?.id.text == text)
            let row = Int(random.next() % UInt64(bytes.count))
            bytes[row] = [0x2F, 0x3A, 0x00, 0xB0, 0xFF, 0x2E][Int(random.next() % 6)]
            #expect(bytes.withUnsafeBytes { PackedRegistrationID($0) } == nil)
        }
    }

    @Test func `Handles of every shape are returned unchanged`() {
        let handles: [DeviceHandle] = [
            .phone(7), .apns(token: ""), .apns(token: "abcd"), .apns(token: String(repeating: "ab", count: 32)),
            .apns(token: String(repeating: "0G", count: 32)), .apns(token: String(repeating: "AF09", count: 50)), .fcmV1(token: "f:x"),
            .gcm(token: "g"), .wns(channel: "https://wns.example/?a=b"), .mpns(channel: "http://m/"), .adm(token: "adm"),
            .xiaomi(token: String(repeating: "x", count: 4096)), .browser(endpoint: "https://e/", p256dh: "p", auth: ""),
            .baidu(user: "1-2", channel: "3"),
        ]
        for handle in handles {
            handle.withPackedBytes { bytes, isToken in
                #expect(DeviceHandle(handle.platform, packed: bytes, isToken: isToken) == handle)
                #expect(isToken == (handle == .phone(7)))
            }
        }
    }

    @Test func `Bytes stay unchanged while others around them change, and free space is reused`() {
        let random = SeededRandom(seed: 3)
        var column = ByteColumn(cell: 16)
        var expected: [UInt32: [UInt8]] = [:]
        for _ in 0..<20_000 {
            let row = UInt32(random.next() % 300) * 700
            if random.next() % 4 == 0 {
                column.clear(row)
                expected[row] = nil
            } else {
                let isInCell = random.next() % 3 == 0
                let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: isInCell ? 16 : Int(random.next() % 90))
                bytes.withUnsafeBytes { column.set($0, at: row, isInCell: isInCell) }
                expected[row] = bytes
            }
        }
        for (row, bytes) in expected { #expect(column.withBytes(at: row) { Array($0) } == bytes) }
    }

    @Test func `A hash table finds exactly its elements after any insertions and removals`() {
        let random = SeededRandom(seed: 5)
        // Few distinct hashes, so that many rows collide.
        func hash(_ row: UInt32) -> UInt64 { UInt64(row / 3) &* 0x9E37_79B9_7F4A_7C15 }
        var table = RowTable()
        var expected: Set<UInt32> = []
        for _ in 0..<60_000 {
            let row = UInt32(random.next() % 9_000) &* 31
            if expected.remove(row) != nil {
                table.remove(row, hash(row), hashOf: hash)
            } else {
                expected.insert(row)
                if table.isFull(for: row, hash(row)) { table.grow(for: row, hash(row), hashOf: hash) }
                table.insert(row, hash(row))
            }
        }
        for row in 0..<UInt32(9_000 * 31) {
            #expect((table.find(hash(row)) { $0 == row } != nil) == expected.contains(row))
        }
    }

    @Test func `Elements of a hash table are stored close to the slot of their hash`() {
        let random = SeededRandom(seed: 6)
        let hashes = (0..<100_000).map { _ in random.next() }
        var table = RowTable()
        for row in hashes.indices.map({ UInt32($0) }) {
            let hash = hashes[Int(row)]
            if table.isFull(for: row, hash) { table.grow(for: row, hash) { hashes[Int($0)] } }
            table.insert(row, hash)
        }
        // A removal examines the elements after it, up to the next gap.
        var looks = 0
        for row in 0..<1000 as Range<UInt32> {
            table.remove(row, hashes[Int(row)]) { other in
                looks += 1
                return hashes[Int(other)]
            }
        }
        #expect(looks < 1000 * 20, "\(looks)")
    }

    @Test func `Rows expire at their times, earliest first`() {
        let random = SeededRandom(seed: 9)
        var queue = ExpiryQueue()
        var expected: [UInt32: Timestamp] = [:]
        var now = HubBench.startTime
        for _ in 0..<4_000 {
            let row = UInt32(random.next() % 200)
            switch random.next() % 8 {
            case 0:
                queue.clear(row)
                expected[row] = nil
            case 1:
                now = now + .milliseconds(Int64(random.next() % 900_000))
                var last = Timestamp(milliseconds: .min)
                while let due = queue.popFirst(dueBy: now) {
                    let time = expected.removeValue(forKey: due)
                    #expect(time.map { $0 <= now && $0 >= last } == true)
                    last = time ?? last
                }
                #expect(expected.values.allSatisfy { $0 > now })
            default:
                let time = now + .milliseconds(Int64(random.next() % 3_000_000) - 1000)
                queue.set(time, at: row)
                expected[row] = time
                if queue.isStale { queue.renew(end: 200) }
            }
            #expect(queue.count == expected.count)
        }
        for row in 0..<UInt32(200) { #expect(queue.expiry(of: row) == expected[row]) }
    }

    @Test func `A row that was freed during a run is reused only after the run has ended`() {
        var supply = RowAllocator()
        let rows = (0..<4).map { _ in supply.allocate() }
        #expect(rows == [0, 1, 2, 3] && supply.end == 4)
        let first = supply.beginRun()
        let isFree = supply.rest(1)
        let second = supply.beginRun()
        let isSecondFree = supply.rest(2)
        let fifth = supply.allocate()
        #expect(!isFree && !isSecondFree && fifth == 4)
        let (none, both) = (supply.endRun(second), supply.endRun(first))
        #expect(none.isEmpty && both == [1, 2])
        let isFreeAtOnce = supply.rest(3)
        let again = (0..<4).map { _ in supply.allocate() }
        #expect(isFreeAtOnce && Set(again.prefix(3)) == [1, 2, 3] && again[3] == 5)
        // The later of two runs does not hold rows that were freed before it began.
        let third = supply.beginRun()
        let isHeld = !supply.rest(0)
        let fourth = supply.beginRun()
        let (freed, later) = (supply.endRun(third), supply.endRun(fourth))
        #expect(isHeld && freed == [0] && later.isEmpty)
    }

    @Test func `A template is removed with its last registration, and its number is reused`() throws {
        var register = TemplateRegister()
        let (one, two) = (
            try RegistrationTemplate(name: "a", body: #"{"aps":{}}"#, platform: .apns),
            try RegistrationTemplate(name: "b", body: #"{"aps":{}}"#, platform: .apns)
        )
        let numbers = [register.take(one), register.take(one), register.take(two)]
        #expect(numbers == [0, 0, 1] && register.content(of: 0) == register.content(of: 1))
        register.release(0)
        #expect(register[0] == one)
        register.release(0)
        #expect(register[0] == nil && register[1] == two)
        let other = try RegistrationTemplate(body: #"{"aps":{"badge":1}}"#, platform: .apns)
        let (number, none) = (register.take(other), register.take(nil))
        #expect(number == 0 && register.content(of: 0) != register.content(of: 1) && none == TemplateRegister.none)
    }

    @Test func `Ids of installations are returned unchanged, including uppercase UUIDs`() {
        var ids = InstallationIDs()
        let texts = [
            "pad", "", "0F8FAD5B-D9CB-469F-A165-70867728950E", "0f8fad5b-d9cb-469f-a165-70867728950e",
            "0f8fad5b-d9cb-469f-a165-70867728950E", "00000000-0000-0000-0000-000000000000", "0f8fad5bxd9cb-469f-a165-70867728950e", "é",
        ]
        for round in 0..<2 {
            for (row, text) in (round == 0 ? texts : texts.reversed()).enumerated() { ids[UInt32(row)] = text }
        }
        for (row, text) in texts.reversed().enumerated() { #expect(ids[UInt32(row)] == text) }
        #expect(Array(ids[0].utf8) == Array("é".utf8))
    }
}
