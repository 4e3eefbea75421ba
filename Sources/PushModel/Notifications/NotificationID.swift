/// Makes and reads the ids of notifications. Each contains the notification's sequence in the hub, so that a lookup needs no search.
package enum NotificationID {
    /// Maximum length of an id in bytes, with the longest sequence.
    private static let maximumLength = 32 + 1 + 14 + 1 + 19 + 2

    /// `n-0001`: an id that is unique within one run.
    package static func short(_ sequence: Int64) -> String { "n-\(Int(sequence).padded(4))" }

    /// An id that is unique across hubs, in Azure's format: 32 random hexadecimal digits, the time, the sequence and 1.
    package static func unique(_ sequence: Int64, at time: Timestamp, random: some RandomSource) -> String {
        let digits: StaticString = "0123456789abcdef"
        var id = String(unsafeUninitializedCapacity: 32) { bytes in
            for half in 0..<2 {
                var word = random.next()
                for index in 0..<16 {
                    bytes.initializeElement(at: half * 16 + index, to: digits.utf8Start[Int(word & 15)])
                    word >>= 4
                }
            }
            return 32
        }
        id.reserveCapacity(72)
        id += "-"
        id += time.digits
        id += "-"
        id += String(sequence)
        id += "-1"
        return id
    }

    /// The sequence in an id of either kind; nil for an invalid id.
    package static func sequence(of id: String) -> Int64? {
        guard id.utf8.count <= maximumLength else { return nil }
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        switch parts.count {
        case 2: return Int64(parts[1])
        case 4: return Int64(parts[2])
        default: return nil
        }
    }

    /// Whether a text has the format of an id of either kind.
    package static func isComplete(_ id: String) -> Bool {
        guard id.utf8.count <= maximumLength else { return false }
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        func areDigits(_ text: Substring) -> Bool { !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        switch parts.count {
        case 2: return parts[0] == "n" && parts[1].utf8.count >= 4 && areDigits(parts[1])
        case 4:
            return parts[0].utf8.count == 32 && parts[0].utf8.allSatisfy(\.isHexDigit) && parts[1].utf8.count == 14
                && parts[1...].allSatisfy(areDigits)
        default: return false
        }
    }
}
