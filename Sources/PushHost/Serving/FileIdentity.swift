import FoundationEssentials

/// Which file a path leads to, whatever is written into it.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    /// Nil where there is none.
    init?(_ path: String) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let device = attributes?.number(.systemNumber), let number = attributes?.number(.systemFileNumber) else { return nil }
        (self.device, self.number) = (device, number)
    }

    /// Whether a file has no bytes, as it is while a server writes to it only once somebody has cut it off.
    static func isEmpty(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path))?.number(.size) == 0
    }
}

extension [FileAttributeKey: Any] {
    /// Of whatever width the library gives it.
    func number(_ key: FileAttributeKey) -> UInt64? {
        let value = self[key]
        return (value as? UInt64) ?? (value as? UInt).map(UInt64.init) ?? (value as? Int).map { UInt64(truncatingIfNeeded: $0) }
            ?? (value as? Int32).map { UInt64(truncatingIfNeeded: $0) } ?? (value as? UInt32).map(UInt64.init)
    }
}
