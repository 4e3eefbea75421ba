import PushModel

/// The key of a tag in the index: 96 bits of a keyed hash.
///
/// Clients choose tags, so the hash must be unpredictable: SipHash-2-4 with 128 bits (Aumasson and Bernstein, 2012), with a random key
/// per process. Two tags have the same fingerprint with probability 2⁻⁹⁶. A lookup among n tags finds a wrong one with probability
/// n·2⁻⁹⁶: with 100 million tags and a million lookups per second, that happens once in 25 million years. The index therefore neither
/// compares nor stores the text of tags.
struct TagFingerprint: Hashable, Sendable {
    var high: UInt64
    var low: UInt32
}

/// The key of the fingerprint hash.
struct FingerprintKey: Sendable {
    private let first: UInt64
    private let second: UInt64
    /// The significant bits of a fingerprint: all, except in tests.
    private let mask: TagFingerprint

    init(first: UInt64, second: UInt64, mask: TagFingerprint = TagFingerprint(high: .max, low: .max)) {
        self.first = first
        self.second = second
        self.mask = mask
    }

    /// A new key per process, derived from the random seed of Swift's hashing. The results of selections do not depend on it.
    static let process: FingerprintKey = {
        func word(_ number: UInt64) -> UInt64 {
            var hasher = Hasher()
            hasher.combine("fingerprints of tags")
            hasher.combine(number)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
        return FingerprintKey(first: word(0), second: word(1))
    }()

    /// The fingerprint of a tag; equal for equal tags.
    func fingerprint(of tag: Tag) -> TagFingerprint {
        var key = tag.key
        return key.withUTF8 { ofASCII(UnsafeRawBufferPointer($0)) } ?? ofAnyScript(tag.key)
    }

    /// The fingerprint from the bytes of a tag, without creating a `Tag`. Returns nil unless the tag consists of the usual ASCII
    /// characters, without braces.
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

    /// The character of a tag's key for each byte; 0 if a plain tag cannot contain it.
    private static let folded: [UInt8] = (0...255).map { byte -> UInt8 in
        switch UInt8(byte) {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt8(byte) | 0x20
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): UInt8(byte)
        default: "_-@#.:".utf8.contains(UInt8(byte)) ? UInt8(byte) : 0
        }
    }

    /// Returns nil if the bytes are not ASCII.
    private func ofASCII(_ bytes: UnsafeRawBufferPointer) -> TagFingerprint? {
        let (high, low, seen) = digest(bytes)
        guard seen & 0x8080_8080_8080_8080 == 0 else { return nil }
        return TagFingerprint(high: high & mask.high, low: UInt32(truncatingIfNeeded: low) & mask.low)
    }

    /// Tags that differ only in Unicode composition are equal. Swift's hash (SipHash-1-3) takes that into account.
    private func ofAnyScript(_ key: String) -> TagFingerprint {
        func word(_ seed: UInt64) -> UInt64 {
            var hasher = Hasher()
            hasher.combine(seed)
            hasher.combine(key)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
        return TagFingerprint(high: word(first) & mask.high, low: UInt32(truncatingIfNeeded: word(~second)) & mask.low)
    }

    /// 128-bit SipHash-2-4, and the bitwise OR of all words of the input.
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

/// State of SipHash-2-4 with 128-bit output.
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
