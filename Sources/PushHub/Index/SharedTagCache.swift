import PushModel

/// Caches the set indices of tags with many registrations, by the tags' text.
///
/// A hub's rows repeat the same few tags in the same spelling, and a lookup here takes a fraction of the time of a fingerprint.
/// Each slot holds one tag; a newer one replaces it.
struct SharedTagCache: Sendable {
    private struct Slot {
        /// The text, padded with zeros.
        var text = SIMD4<UInt64>()
        /// Length of the text; 0 for an empty slot.
        var length = 0
        var number: UInt32 = 0
    }

    /// Maximum length of cached tags in bytes.
    private static let longest = 32
    private static let slotBits: UInt64 = 10

    private var slots = [Slot](repeating: Slot(), count: 1 << slotBits)

    /// The cached index for this text.
    func number(of text: UnsafeRawBufferPointer) -> UInt32? {
        guard 1...Self.longest ~= text.count else { return nil }
        let words = Self.words(text)
        let slot = slots[Self.slot(words)]
        return slot.length == text.count && slot.text == words ? slot.number : nil
    }

    mutating func keep(_ number: UInt32, of text: UnsafeRawBufferPointer) {
        guard 1...Self.longest ~= text.count else { return }
        let words = Self.words(text)
        slots[Self.slot(words)] = Slot(text: words, length: text.count, number: number)
    }

    private static func words(_ text: UnsafeRawBufferPointer) -> SIMD4<UInt64> {
        var words = SIMD4<UInt64>()
        withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: text) }
        return words
    }

    /// The hash need not be keyed: provoked collisions only make lookups as slow as without the cache.
    private static func slot(_ words: SIMD4<UInt64>) -> Int {
        let mixed = words &* SIMD4(0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB, 0xD6E8_FEB8_6659_FD93)
        return Int(truncatingIfNeeded: mixed.wrappedSum() >> (64 - slotBits))
    }
}
