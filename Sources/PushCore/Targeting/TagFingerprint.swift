/// What the index knows a tag by: 96 bits of a keyed hash.
///
/// Tags are chosen by clients, so the hash is one whose values nobody can foresee without its key: SipHash-2-4 with 128 bits
/// (Aumasson and Bernstein, 2012), under a key of the process's own. Two given tags share a fingerprint with a chance of 2⁻⁹⁶. A
/// look-up among n tags meets a wrong one with n·2⁻⁹⁶: among 100 million tags, a million look-ups a second for a hundred years do
/// so once in 250,000 such centuries. So nothing is compared letter by letter, and the letters need not be kept.
struct TagFingerprint: Hashable, Sendable {
    var high: UInt64
    var low: UInt32
}

/// What fingerprints are made with.
struct FingerprintKey: Sendable {
    private let first: UInt64
    private let second: UInt64
    /// The bits of a fingerprint that count: all of them, but in tests.
    private let mask: TagFingerprint

    init(first: UInt64, second: UInt64, mask: TagFingerprint = TagFingerprint(high: .max, low: .max)) {
        self.first = first
        self.second = second
        self.mask = mask
    }

    /// New in each process: made from the seed of Swift's own hashes, which comes from the system. What is selected does not depend
    /// on it.
    static let process: FingerprintKey = {
        func word(_ number: UInt64) -> UInt64 {
            var hasher = Hasher()
            hasher.combine("fingerprints of tags")
            hasher.combine(number)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
        return FingerprintKey(first: word(0), second: word(1))
    }()

    /// Equal for equal tags.
    func fingerprint(of tag: Tag) -> TagFingerprint {
        var key = tag.key
        return key.withUTF8 { ofASCII(UnsafeRawBufferPointer($0)) } ?? ofAnyScript(tag.key)
    }

    /// The same from the bytes of a tag, without a text on the way; nil for all but the usual ones, which are of ASCII and have no
    /// braces.
    func fingerprint(ofPlain text: UnsafeRawBufferPointer) -> TagFingerprint? {
        guard 1...Tag.maximumLength ~= text.count else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: text.count, alignment: 8) { key in
            let isPlain = Self.folded.withUnsafeBufferPointer { folded in
                var isPlain = true
                for index in 0..<text.count {
                    let letter = folded[Int(text[index])]
                    key[index] = letter
                    isPlain = isPlain && letter != 0
                }
                return isPlain
            }
            return isPlain ? ofASCII(UnsafeRawBufferPointer(key)) : nil
        }
    }

    /// By byte: what stands for it in a tag's key; 0 for what no plain tag has.
    private static let folded: [UInt8] = (0...255).map { byte -> UInt8 in
        switch UInt8(byte) {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt8(byte) | 0x20
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): UInt8(byte)
        default: "_-@#.:".utf8.contains(UInt8(byte)) ? UInt8(byte) : 0
        }
    }

    /// Nil for bytes that are not ASCII.
    private func ofASCII(_ bytes: UnsafeRawBufferPointer) -> TagFingerprint? {
        let (high, low, seen) = digest(bytes)
        guard seen & 0x8080_8080_8080_8080 == 0 else { return nil }
        return TagFingerprint(high: high & mask.high, low: UInt32(truncatingIfNeeded: low) & mask.low)
    }

    /// Tags are equal that differ only in how their letters are composed, which Swift's own hash (SipHash-1-3) knows of.
    private func ofAnyScript(_ key: String) -> TagFingerprint {
        func word(_ seed: UInt64) -> UInt64 {
            var hasher = Hasher()
            hasher.combine(seed)
            hasher.combine(key)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
        return TagFingerprint(high: word(first) & mask.high, low: UInt32(truncatingIfNeeded: word(~second)) & mask.low)
    }

    /// SipHash-2-4's 128 bits, and every bit that is set anywhere in the bytes.
    @inline(__always)
    func digest(_ bytes: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64, seen: UInt64) {
        var state = SipState(first, second)
        var seen: UInt64 = 0
        let whole = bytes.count & ~7
        var offset = 0
        while offset < whole {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            seen |= word
            state.absorb(word)
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest |= UInt64(bytes[offset]) << (8 * UInt64(offset - whole))
            offset += 1
        }
        seen |= rest
        state.absorb(rest | UInt64(truncatingIfNeeded: bytes.count) << 56)
        let (high, low) = state.finish()
        return (high, low, seen)
    }
}

/// The state of SipHash-2-4 with 128 bits.
private struct SipState {
    private var v0, v1, v2, v3: UInt64

    @inline(__always)
    init(_ first: UInt64, _ second: UInt64) {
        v0 = first ^ 0x736f_6d65_7073_6575
        v1 = second ^ 0x646f_7261_6e64_6f6d ^ 0xee
        v2 = first ^ 0x6c79_6765_6e65_7261
        v3 = second ^ 0x7465_6462_7974_6573
    }

    @inline(__always)
    mutating func absorb(_ word: UInt64) {
        v3 ^= word
        mix()
        mix()
        v0 ^= word
    }

    @inline(__always)
    mutating func finish() -> (UInt64, UInt64) {
        v2 ^= 0xee
        for _ in 0..<4 { mix() }
        let high = v0 ^ v1 ^ v2 ^ v3
        v1 ^= 0xdd
        for _ in 0..<4 { mix() }
        return (high, v0 ^ v1 ^ v2 ^ v3)
    }

    @inline(__always)
    private mutating func mix() {
        v0 &+= v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }
}
