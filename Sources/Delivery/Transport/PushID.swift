import PushModel

/// The 128 bits of an `apns-id`, a UUID (RFC 9562). It is converted to text only when written.
package struct PushID: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    /// Size of the canonical text: 8-4-4-4-12 hexadecimal digits.
    static let textSize = 36

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Returns `nil` for anything but the canonical text in lower case, which ``description`` returns.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        let id = bytes.withUnsafeBufferPointer { PushID(ascii: $0) }
        guard let id else { return nil }
        self = id
    }

    init?(ascii text: UnsafeBufferPointer<UInt8>) {
        guard text.count == Self.textSize else { return nil }
        var (high, low, digits) = (UInt64(0), UInt64(0), 0)
        for (index, byte) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                if byte != UInt8(ascii: "-") { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte &- UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte &- UInt8(ascii: "a") &+ 10
            default: return nil
            }
            if digits < 16 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
            digits &+= 1
        }
        self.init(high: high, low: low)
    }

    /// Writes ``textSize`` bytes.
    func write(to destination: UnsafeMutablePointer<UInt8>) {
        var offset = 0
        for digit in 0..<32 {
            if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                destination[offset] = UInt8(ascii: "-")
                offset &+= 1
            }
            let word = digit < 16 ? high : low
            let value = UInt8(truncatingIfNeeded: word &>> UInt64(60 &- 4 &* (digit & 15))) & 15
            destination[offset] = value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &- 10 &+ value
            offset &+= 1
        }
    }
}

extension PushID: CustomStringConvertible {
    package var description: String {
        String(unsafeUninitializedCapacity: Self.textSize) { buffer in
            guard let destination = buffer.baseAddress else { return 0 }
            write(to: destination)
            return Self.textSize
        }
    }
}
