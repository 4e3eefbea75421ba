/// The id of a registration in 17 bytes: its two numbers, and its shard.
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

    /// Nil for an id of which this would not be the whole: with zeros in front, or a higher shard.
    init?(_ id: RegistrationID) {
        var text = id.text
        guard let packed = text.withUTF8({ PackedRegistrationID(UnsafeRawBufferPointer($0)) }) else { return nil }
        self = packed
    }

    /// The same of the text's bytes, whatever they are.
    init?(_ text: UnsafeRawBufferPointer) {
        var numbers: (UInt64, UInt64, UInt64) = (0, 0, 0)
        var part = 0
        var digits = 0
        var value: UInt64 = 0
        for index in 0...text.count {
            let byte = index < text.count ? text[index] : UInt8(ascii: "-")
            if byte == UInt8(ascii: "-") {
                guard digits > 0, part < 3 else { return nil }
                if part == 0 { numbers.0 = value } else if part == 1 { numbers.1 = value } else { numbers.2 = value }
                (part, digits, value) = (part + 1, 0, 0)
            } else {
                guard (0x30...0x39).contains(byte), digits < 19, digits == 0 || value > 0 else { return nil }
                value = value * 10 + UInt64(byte - 0x30)
                digits += 1
            }
        }
        guard part == 3, numbers.2 < 15 else { return nil }
        self.init(first: numbers.0, second: numbers.1, shard: UInt8(numbers.2))
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
        text = String(unsafeUninitializedCapacity: 43) { buffer in
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
        }
    }
}
