import PushModel

/// A registration id in 17 bytes: its two numbers and its shard.
struct PackedRegistrationID: Hashable, Sendable {
    let first: UInt64
    let second: UInt64
    /// 0 to 14.
    let shard: UInt8

    init(first: UInt64, second: UInt64, shard: UInt8) {
        self.first = first
        self.second = second
        self.shard = shard
    }

    /// Returns nil if the packed form would not restore the text: with leading zeros, or a shard above 14.
    init?(_ id: RegistrationID) {
        var text = id.text
        guard let packed = text.withUTF8({ PackedRegistrationID(UnsafeRawBufferPointer($0)) }) else { return nil }
        self = packed
    }

    /// Parses the text of an id, given as bytes. Returns nil under the same conditions.
    init?(_ text: UnsafeRawBufferPointer) {
        var end = 0
        guard let first = Self.number(text, &end), Self.skipDash(text, &end), let second = Self.number(text, &end),
            Self.skipDash(text, &end), let shard = Self.number(text, &end), end == text.count, shard < 15
        else { return nil }
        self.init(first: first, second: second, shard: UInt8(truncatingIfNeeded: shard))
    }

    private static func skipDash(_ text: UnsafeRawBufferPointer, _ start: inout Int) -> Bool {
        guard start < text.count, text[start] == UInt8(ascii: "-") else { return false }
        start += 1
        return true
    }

    /// Parses 1 to 19 digits and advances `start`. Returns nil if there are none, more than 19, or a leading zero.
    @inline(__always)
    private static func number(_ text: UnsafeRawBufferPointer, _ start: inout Int) -> UInt64? {
        let begin = start
        var value: UInt64 = 0
        while start + 8 <= min(text.count, begin + 16) {
            let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: start, as: UInt64.self))
            guard let eight = eightDigits(word) else { break }
            value = value * 100_000_000 + eight
            start += 8
        }
        while start < min(text.count, begin + 19), (0x30...0x39).contains(text[start]) {
            value = value * 10 + UInt64(text[start] - 0x30)
            start += 1
        }
        let isTooLong = start < text.count && (0x30...0x39).contains(text[start])
        guard start > begin, !isTooLong, text[begin] != 0x30 || start == begin + 1 else { return nil }
        return value
    }

    /// The value of eight decimal digits. The lowest byte of the word is the first digit.
    private static func eightDigits(_ word: UInt64) -> UInt64? {
        let areDigits = (word & 0xF0F0_F0F0_F0F0_F0F0) | (((word &+ 0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0) >> 4)
        guard areDigits == 0x3333_3333_3333_3333 else { return nil }
        // Combine digits into pairs, pairs into fours, and fours into eight: multiply the first and add the second.
        let pairs = ((word & 0x0F0F_0F0F_0F0F_0F0F) &* (10 << 8 | 1)) >> 8
        let fours = ((pairs & 0x00FF_00FF_00FF_00FF) &* (100 << 16 | 1)) >> 16
        return ((fours & 0x0000_FFFF_0000_FFFF) &* (10_000 << 32 | 1)) >> 32
    }

    var id: RegistrationID { RegistrationID(self) }

    var hash: UInt64 {
        var hasher = Hasher()
        hasher.combine(first)
        hasher.combine(second)
        hasher.combine(shard)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

extension RegistrationID {
    init(_ packed: PackedRegistrationID) {
        self.init(
            unchecked: String(unsafeUninitializedCapacity: 43) { buffer in
                var end = 43
                func write(_ number: UInt64) {
                    var rest = number
                    repeat {
                        end -= 1
                        buffer[end] = UInt8(ascii: "0") + UInt8(rest % 10)
                        rest /= 10
                    } while rest > 0
                }
                write(UInt64(packed.shard))
                end -= 1
                buffer[end] = UInt8(ascii: "-")
                write(packed.second)
                end -= 1
                buffer[end] = UInt8(ascii: "-")
                write(packed.first)
                for index in end..<43 { buffer[index - end] = buffer[index] }
                return 43 - end
            })
    }
}
