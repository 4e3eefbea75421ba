/// Where the tags of many registrations stand, by the letters that they come with.
///
/// The rows of a hub name the same few tags again and again, in the same letters; to find one here takes a fraction of its
/// fingerprint. One tag a slot: a newer one takes the place of an older one.
struct SharedTagCache: Sendable {
    private struct Slot {
        /// Zeros behind the text's bytes.
        var text = SIMD4<UInt64>()
        /// 0 in a slot that is empty.
        var length = 0
        var number: UInt32 = 0
    }

    /// Bytes: longer tags are not kept.
    private static let longest = 32
    private static let slotBits: UInt64 = 10

    private var slots = [Slot](repeating: Slot(), count: 1 << slotBits)

    /// What was kept for these bytes.
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

    /// Not keyed: whoever has tags meet in one slot makes them cost what they would without.
    private static func slot(_ words: SIMD4<UInt64>) -> Int {
        let mixed = words &* SIMD4(0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB, 0xD6E8_FEB8_6659_FD93)
        return Int(truncatingIfNeeded: mixed.wrappedSum() >> (64 - slotBits))
    }
}
