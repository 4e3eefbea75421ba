package import FoundationEssentials

/// Identifies the file at a path by device and inode number, independent of its content.
package struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    /// Nil if the file does not exist.
    package init?(_ path: String) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let device = attributes?.number(.systemNumber), let number = attributes?.number(.systemFileNumber) else { return nil }
        (self.device, self.number) = (device, number)
    }

    /// Whether the file is empty. A database in use is empty only after another program truncated it.
    package static func isEmpty(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path))?.number(.size) == 0
    }
}

extension [FileAttributeKey: Any] {
    /// The attribute as an unsigned number, whatever integer type Foundation returns.
    package func number(_ key: FileAttributeKey) -> UInt64? {
        let value = self[key]
        return (value as? UInt64) ?? (value as? UInt).map(UInt64.init) ?? (value as? Int).map { UInt64(truncatingIfNeeded: $0) }
            ?? (value as? Int32).map { UInt64(truncatingIfNeeded: $0) } ?? (value as? UInt32).map(UInt64.init)
    }
}
