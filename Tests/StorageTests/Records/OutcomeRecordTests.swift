import PushModel
import Support
import Testing

@testable import Storage

/// Outcome batches as bytes.
@Suite struct OutcomeRecordTests {
    /// A random change: a flipped bit, a changed byte, or bytes removed, repeated or added.
    private static func changed(_ bytes: [UInt8], by outcomes: RandomOutcomes) -> [UInt8] {
        var bytes = bytes
        let index = outcomes.number(below: bytes.count)
        let end = min(bytes.count, index + 1 + outcomes.number(below: 20))
        switch outcomes.number(below: 6) {
        case 0: bytes[index] ^= 1 << UInt8(outcomes.number(below: 8))
        case 1: bytes[index] = outcomes.pick([0, 1, 0x7f, 0x80, 0xff])
        case 2: bytes.removeSubrange(index..<end)
        case 3: bytes.insert(contentsOf: bytes[index..<end], at: index)
        case 4: bytes.insert(UInt8(outcomes.number(below: 256)), at: index)
        default: bytes.replaceSubrange(index..<end, with: repeatElement(0xff, count: 1 + outcomes.number(below: 12)))
        }
        return bytes
    }

    /// Appends the checksum of the content.
    private static func summed(_ content: [UInt8]) -> [UInt8] {
        var bytes = content
        bytes.append(word: content.withUnsafeBytes { OutcomeBatchCodec.sum($0) })
        return bytes
    }

    @Test(arguments: 0..<50)
    func `Batches are returned unchanged`(seed: UInt64) throws {
        let outcomes = RandomOutcomes(seed: seed)
        let batch = OutcomeBatch(outcomes.devices(outcomes.number(below: 100)))
        let bytes = OutcomeBatchCodec.bytes(of: batch)
        #expect(try OutcomeBatchCodec.batch(of: bytes) == batch)
        #expect(OutcomeBatchCodec.bytes(of: try OutcomeBatchCodec.batch(of: bytes)) == bytes)
    }

    @Test func `Any changed bytes are rejected`() async {
        let outcomes = RandomOutcomes(seed: 1)
        var accepted = 0
        for _ in 0..<10_000 {
            await Task.yield()
            let bytes = OutcomeBatchCodec.bytes(of: OutcomeBatch(outcomes.devices(outcomes.number(below: 5))))
            let damaged = Self.changed(bytes, by: outcomes)
            guard damaged != bytes else { continue }
            do {
                _ = try OutcomeBatchCodec.batch(of: damaged)
                accepted += 1
            } catch {
                #expect(error is UnreadableValue)
            }
        }
        #expect(accepted == 0)
        for length in 0..<16 {
            #expect(throws: UnreadableValue.self) { try OutcomeBatchCodec.batch(of: Array(repeating: 0, count: length)) }
        }
    }

    @Test func `Invalid bytes with a valid checksum are rejected or read as some batch`() async throws {
        let outcomes = RandomOutcomes(seed: 2)
        var (refused, read) = (0, 0)
        for _ in 0..<10_000 {
            await Task.yield()
            let content = OutcomeBatchCodec.bytes(of: OutcomeBatch(outcomes.devices(1 + outcomes.number(below: 4)))).dropLast(8)
            let damaged = Self.summed(Self.changed(Array(content), by: outcomes))
            do {
                let batch = try OutcomeBatchCodec.batch(of: damaged)
                let devices = Array(batch)
                #expect(devices.count == batch.count)
                #expect(try OutcomeBatchCodec.batch(of: OutcomeBatchCodec.bytes(of: OutcomeBatch(devices))) == batch)
                read += 1
            } catch {
                #expect(error is UnreadableValue)
                refused += 1
            }
        }
        #expect(refused > 1000 && read > 1000)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `The times of verdicts are returned with their devices`(seed: UInt64) throws {
        let outcomes = RandomOutcomes(seed: seed)
        var batch = OutcomeBatch()
        for step in 0..<20 {
            // The clock may go back.
            if !outcomes.oneIn(3) { batch.mark(Timestamp(milliseconds: Int64(outcomes.number(below: 9)) - Int64(step) * 1000)) }
            for device in outcomes.devices(outcomes.number(below: 5)) { batch.append(device) }
        }
        let read = try OutcomeBatchCodec.batch(of: OutcomeBatchCodec.bytes(of: batch))
        #expect(read == batch && batch.indices.allSatisfy { read.time(at: $0) == batch.time(at: $0) })
        for most in [1, 7, 1000] {
            let times = batch.parts(of: most).flatMap { part in part.indices.map { part.time(at: $0) } }
            #expect(times == batch.indices.map { batch.time(at: $0) })
        }
    }

    @Test func `Bytes of a later version are rejected with its number`() throws {
        var content = Array(OutcomeBatchCodec.bytes(of: OutcomeBatch(RandomOutcomes(seed: 3).devices(2))).dropLast(8))
        content[0] = 5
        let error = #expect(throws: UnreadableValue.self) { try OutcomeBatchCodec.batch(of: Self.summed(content)) }
        #expect(error?.reason == "unknown batch version 5")
    }

    @Test func `Bytes are the same as those of earlier versions`() throws {
        // The exact bytes of versions 1 and 3. Reading them differently means losing stored data.
        var device = Samples.device(1, outcome: .wrongToken)
        (device.reason, device.cause, device.device.templateName) = ("Bad", .text("worse"), "t")
        device.isRegistrationRemoved = true
        var other = Samples.device(2)
        (other.device.registrationID, other.device.installationID, other.pushID) = (nil, "i", "0A000000-0000-0000-0000-00000000000F")
        other.device.handle = .baidu(user: "u", channel: "c")
        other.device.platform = .fcmV1
        let bytes = OutcomeBatchCodec.bytes(of: OutcomeBatch([device, other]))
        let texts: [UInt8] = [4, 1] + Array("t".utf8) + [3] + Array("Bad".utf8) + [5] + Array("worse".utf8) + [0]
        let rows: [UInt8] =
            [2, 0, 0b1101_0001] + [0x41, 0x42, 0x0f, 0, 0, 0, 0, 0] + [0x81, 0x84, 0x1e, 0, 0, 0, 0, 0]
            + Array(repeating: 0, count: 31) + [1] + [6] + Array("push-1".utf8)
            + [1, 0b1000_1100, 1] + Array("i".utf8) + [1] + Array("u".utf8) + [1] + Array("c".utf8)
            + [0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0f]
        let sentences = [1] + texts + [2, 1, 1, 18, 3, 0, 1, 2, 1, 2, 8, 1, 0, 3, 3, 2] + rows
        let causes = [3] + texts + [2, 1, 1, 18, 3, 0, 1, 8, 2, 1, 2, 8, 1, 0, 3, 8, 3, 2] + rows
        #expect(Array(bytes.dropLast(8)) == causes)
        for bytes in [sentences, causes] {
            #expect(try OutcomeBatchCodec.batch(of: Self.summed(bytes)) == OutcomeBatch([device, other]))
        }
    }

    @Test(
        arguments: [
            (.accepted, [1]), (.duplicate, [2]), (.removedEarly, [3]), (.cancelled, [4]), (.unanswered, [5]),
            (.ruled(HookReason(plugin: "q", reason: "r")), [6, 1, 2]), (.ruled(HookReason(plugin: nil, reason: "r")), [7, 1]),
            (.text("t"), [8, 1]),
        ] as [(OutcomeCause, [UInt8])])
    func `Every cause has its own code`(cause: OutcomeCause, code: [UInt8]) throws {
        var device = Samples.device(1)
        device.cause = cause
        let bytes = OutcomeBatchCodec.bytes(of: OutcomeBatch([device]))
        // Behind the texts, of which the first is the reason: the number of kinds, then platforms, outcome, flags and reason.
        #expect(bytes.firstRange(of: [1, 1, 1, 1, 0, 0] + code + [1]) != nil)
        #expect(try OutcomeBatchCodec.batch(of: bytes).first?.cause == cause)
    }

    @Test func `Sentences of older versions become causes`() {
        func cause(_ outcome: OutcomeName, _ reason: String, _ text: String) -> OutcomeCause {
            OutcomeCause(sentence: text, of: outcome, reason: reason)
        }
        #expect(cause(.success, "", "accepted by the push service") == .accepted)
        for text in ["another registration with the same handle stands for it", "the same handle already got this notification"] {
            #expect(cause(.skipped, "", text) == .duplicate)
            #expect(cause(.skipped, "Hook", text) == .ruled(HookReason(plugin: nil, reason: text)))
        }
        #expect(cause(.skipped, "", "the registration left before its turn came") == .removedEarly)
        #expect(cause(.abandoned, "", "the delivery was cancelled") == .cancelled)
        #expect(cause(.abandoned, "Hook", "quiet: attempt to index a nil value") == .text("quiet: attempt to index a nil value"))
        for text in ["it is unknown whether it was delivered", "nobody knows whether it was delivered"] {
            #expect(cause(.pnsUnreachable, "read timed out", text) == .unanswered)
        }
        #expect(cause(.skipped, "Hook", "quiet: at night: 23:00") == .ruled(HookReason(plugin: "quiet", reason: "at night: 23:00")))
        #expect(cause(.badChannel, "BadDeviceToken", "the delivery was cancelled") == .text("the delivery was cancelled"))
    }

    @Test func `Every platform and outcome has its own code`() throws {
        for platform in Platform.allCases { #expect(try Platform(storedCode: platform.storedCode) == platform) }
        for outcome in OutcomeName.allCases { #expect(try OutcomeName(storedCode: outcome.storedCode) == outcome) }
        for code in [0, 200] as [UInt8] {
            #expect(throws: UnreadableValue.self) { try Platform(storedCode: code) }
            #expect(throws: UnreadableValue.self) { try OutcomeName(storedCode: code) }
        }
    }
}
