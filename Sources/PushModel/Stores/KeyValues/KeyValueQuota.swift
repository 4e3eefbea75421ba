/// The maximum size of a space.
package struct KeyValueQuota: Sendable {
    package var entries: Int
    package var bytes: Int

    package init(entries: Int, bytes: Int) {
        self.entries = entries
        self.bytes = bytes
    }

    package static let standard = KeyValueQuota(entries: 1_000_000, bytes: 64 << 20)

    /// Whether a change keeps the space within its quota. A change that shrinks it is always allowed.
    package func fits(_ usage: KeyValueUsage, adding new: KeyValueUsage) -> Bool {
        (new.entries <= 0 || usage.entries + new.entries <= entries) && (new.bytes <= 0 || usage.bytes + new.bytes <= bytes)
    }
}
