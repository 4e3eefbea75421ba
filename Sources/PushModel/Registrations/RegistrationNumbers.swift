/// A registration id as its three numbers: 17 bytes, where its text takes 41.
package struct RegistrationNumbers: Sendable, Hashable {
    package let first: UInt64
    package let second: UInt64
    package let shard: UInt64

    /// Nil for a number of more than 19 digits, which an id cannot have.
    package init?(first: UInt64, second: UInt64, shard: UInt64 = 1) {
        guard max(first, second, shard) <= 9_999_999_999_999_999_999 else { return nil }
        self.first = first
        self.second = second
        self.shard = shard
    }

    /// Nil for an id with a number that starts with a zero, because the text could not be restored.
    package init?(_ id: RegistrationID) {
        var text = id.text
        let numbers = text.withUTF8 { Self.numbers($0) }
        guard let numbers else { return nil }
        (first, second, shard) = numbers
    }

    private static func numbers(_ text: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64, UInt64)? {
        var index = 0
        func next() -> UInt64? {
            let start = index
            var number: UInt64 = 0
            while index < text.count, text[index] != UInt8(ascii: "-") {
                number = number &* 10 &+ UInt64(text[index] &- UInt8(ascii: "0"))
                index += 1
            }
            guard index == start + 1 || (index > start && text[start] != UInt8(ascii: "0")) else { return nil }
            index += 1
            return number
        }
        guard let first = next(), let second = next(), let shard = next() else { return nil }
        return (first, second, shard)
    }
}

extension RegistrationID {
    package init(_ numbers: RegistrationNumbers) {
        // At most three numbers of 19 digits and two dashes.
        text = String(unsafeUninitializedCapacity: 59) { bytes in
            var end = 0
            for number in [numbers.first, numbers.second, numbers.shard] {
                if end > 0 {
                    bytes[end] = UInt8(ascii: "-")
                    end += 1
                }
                end = Self.write(number, to: bytes, from: end)
            }
            return end
        }
    }

    /// Writes a number's digits. Returns the index after them.
    private static func write(_ number: UInt64, to bytes: UnsafeMutableBufferPointer<UInt8>, from start: Int) -> Int {
        var (rest, end) = (number, start)
        repeat {
            bytes[end] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
            end += 1
        } while rest > 0
        bytes[start..<end].reverse()
        return end
    }
}
