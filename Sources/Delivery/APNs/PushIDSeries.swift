import Crypto

/// Derives the `apns-id` of every copy of a notification. A device gets the same id in every attempt, also from a process that resumes
/// after a crash, so that duplicates can be recognised.
struct PushIDSeries: Sendable {
    private let first: UInt64
    private let second: UInt64

    /// - Parameter body: Distinguishes the copies for a device that gets several, from several templates.
    init(notificationID: String, body: [UInt8]) {
        var hash = SHA256()
        hash.update(data: Array(notificationID.utf8))
        hash.update(data: [0])
        hash.update(data: body)
        let digest = Array(hash.finalize())
        func word(_ start: Int) -> UInt64 { digest[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        (first, second) = (word(0), word(8))
    }

    /// Returns a UUID of version 8 (RFC 9562, section 5.8).
    func id(of token: String) -> PushID {
        var (high, low, word, count) = (first, second, UInt64(0), 0)
        func fold(_ value: UInt64, _ factor: UInt64) -> UInt64 {
            let product = value.multipliedFullWidth(by: factor)
            return product.high ^ product.low
        }
        func mix() {
            high = fold(high ^ word, 0xa076_1d64_78bd_642f)
            low = fold(low ^ word, 0xe703_7ed1_a0b4_28db)
        }
        for byte in token.utf8 {
            word = word << 8 | UInt64(byte)
            count += 1
            if count.isMultiple(of: 8) { mix() }
        }
        mix()
        word = UInt64(count)
        mix()
        return PushID(high: high & ~0xf000 | 0x8000, low: low & ~(3 << 62) | 2 << 62)
    }
}
