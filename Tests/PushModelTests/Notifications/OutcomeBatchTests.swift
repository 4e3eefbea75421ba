import PushModel
import Support
import Testing

@Suite struct OutcomeBatchTests {
    private static func device(_ number: Int, outcome: OutcomeName = .success) -> DeviceOutcome {
        DeviceOutcome(
            device: OutcomeDevice(
                registrationID: RegistrationID(random: SeededRandom(seed: UInt64(number))), platform: .apns, handle: .phone(number),
                templateName: nil), outcome: outcome, reason: "", cause: .accepted,
            pushID: "01234567-89ab-cdef-0123-456789abcdef", size: 210, isRegistrationRemoved: false)
    }

    @Test(arguments: 0..<50)
    func `Devices of every shape are unchanged by packing`(seed: UInt64) {
        let outcomes = RandomOutcomes(seed: seed)
        let devices = outcomes.devices(outcomes.number(below: 200))
        let batch = OutcomeBatch(devices)
        #expect(Array(batch) == devices)
        for index in devices.indices.reversed() {
            #expect(batch[index] == devices[index])
            // Strings that compare equal can differ in their bytes.
            #expect(batch[index].pushID.map { Array($0.utf8) } == devices[index].pushID.map { Array($0.utf8) })
            #expect(Array(batch[index].handle.text.utf8) == Array(devices[index].handle.text.utf8))
        }
        #expect(batch == OutcomeBatch(devices) && (devices.isEmpty || batch != OutcomeBatch(devices.dropLast())))
    }

    @Test(arguments: 0..<50)
    func `Packed rows can be read with their kinds, but not if bytes are missing or left over`(seed: UInt64) {
        let outcomes = RandomOutcomes(seed: seed)
        let batch = OutcomeBatch(outcomes.devices(1 + outcomes.number(below: 20)))
        #expect(OutcomeBatch(kinds: batch.kinds, rows: batch.rows, count: batch.count) == batch)
        for count in [-1, 0, batch.count - 1, batch.count + 1, Int.max] where count != batch.count {
            #expect(OutcomeBatch(kinds: batch.kinds, rows: batch.rows, count: count) == nil)
        }
        for length in 0..<batch.rows.count {
            #expect(OutcomeBatch(kinds: batch.kinds, rows: Array(batch.rows.prefix(length)), count: batch.count) == nil)
        }
        #expect(OutcomeBatch(kinds: batch.kinds, rows: batch.rows + [0], count: batch.count) == nil)
        #expect(OutcomeBatch(kinds: batch.kinds.dropLast(), rows: batch.rows, count: batch.count) == nil)
    }

    @Test func `An APNs device uses 66 bytes, and values shared by many devices are stored once`() {
        let batch = OutcomeBatch((0..<1000).map { Self.device($0, outcome: $0.isMultiple(of: 3) ? .wrongToken : .success) })
        #expect(batch.rows.count == 66 * 1000)
        #expect(batch.kinds.map(\.outcome) == [.wrongToken, .success])
    }

    @Test func `A batch that was read accepts more devices and reuses its kinds`() throws {
        let devices = (0..<9).map { Self.device($0, outcome: $0.isMultiple(of: 2) ? .wrongToken : .success) }
        let whole = OutcomeBatch(devices)
        var batch = try #require(OutcomeBatch(kinds: whole.kinds, rows: whole.rows, count: whole.count))
        for device in devices { batch.append(device) }
        batch.append(Self.device(9, outcome: .dropped))
        #expect(Array(batch) == devices + devices + [Self.device(9, outcome: .dropped)])
        #expect(batch.kinds.count == 3)
    }

    @Test func `Binary columns give the same rows as text`() throws {
        let device = Self.device(77)
        let token = [UInt8](repeating: 0, count: 31) + [77]
        let numbers = try #require(device.registrationID.flatMap { RegistrationNumbers($0) })
        var columns = OutcomeBatch()
        let kind = columns.number(of: try #require(OutcomeBatch([device]).kinds.first))
        token.withUnsafeBytes {
            columns.append(kind: kind, registration: numbers, token: $0, pushID: (0x0123_4567_89ab_cdef, 0x0123_4567_89ab_cdef))
            columns.append(kind: kind, registration: nil, token: UnsafeRawBufferPointer(rebasing: $0.suffix(3)), pushID: nil)
        }
        var short = device
        (short.device.registrationID, short.device.handle, short.pushID) = (nil, .apns(token: "00004D"), nil)
        #expect(columns == OutcomeBatch([device, short]))
        #expect(columns.rows == OutcomeBatch([device, short]).rows)
    }

    @Test func `The parts of a batch are the same devices in the same order`() {
        let devices = RandomOutcomes(seed: 5).devices(100)
        for most in [1, 7, 50, 99, 100, 101] {
            let parts = OutcomeBatch(devices).parts(of: most)
            #expect(parts.flatMap { Array($0) } == devices)
            #expect(parts.dropLast().allSatisfy { $0.count == most } && parts.allSatisfy { (1...most).contains($0.count) })
        }
        #expect(OutcomeBatch().parts(of: 5).isEmpty)
    }

    @Test(arguments: ["1-2-3", "0-0-0", "9999999999999999999-1000000000000000000-1", "7-10-9999999999999999999"])
    func `An id and its numbers convert into each other`(text: String) throws {
        let id = try #require(RegistrationID(text))
        let numbers = try #require(RegistrationNumbers(id))
        #expect(RegistrationID(numbers).text == text)
        #expect([numbers.first, numbers.second, numbers.shard].map(String.init).joined(separator: "-") == text)
    }

    @Test func `An id with leading zeros has no numbers, and numbers that are too large are rejected`() throws {
        for text in ["00-1-1", "1-01-1", "1-1-01"] { #expect(RegistrationNumbers(try #require(RegistrationID(text))) == nil) }
        #expect(RegistrationNumbers(first: 10_000_000_000_000_000_000, second: 1) == nil)
        #expect(RegistrationNumbers(first: 9_999_999_999_999_999_999, second: 1, shard: .max) == nil)
    }
}
