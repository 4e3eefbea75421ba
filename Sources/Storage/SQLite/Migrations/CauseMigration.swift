import GRDB
import PushModel

/// Converts what older versions stored as English sentences about devices into values: why a device was removed, and why it is deferred.
/// The sentences must never change.
///
/// Batches of outcomes stay as they are, because they may take gigabytes: `OutcomeBatchCodec` converts an older one when it is read.
enum CauseMigration {
    static func run(in database: Database) throws {
        try splitReports(in: database)
        try splitDeferrals(in: database)
    }

    // MARK: - Removed registrations

    private static let services: [(name: String, platform: Platform)] = [
        ("APNs", .apns), ("FCM", .fcmV1), ("GCM", .gcm), ("WNS", .wns), ("Web Push", .browser), ("MPNS", .mpns), ("ADM", .adm),
        ("Baidu", .baidu), ("Xiaomi", .xiaomi),
    ]

    /// Leaves the push service's code of `APNs answered Unregistered`, and nothing of `APNs answered that its handle is dead`.
    private static func splitReports(in database: Database) throws {
        for (name, platform) in services {
            let start = "\(name) answered "
            try database.run(
                """
                UPDATE departure SET platform = coalesce(platform, ?2), detail = CASE substr(detail, length(?1) + 1)
                    WHEN 'that its handle is dead' THEN '' WHEN 'that its handle is invalid' THEN '' ELSE substr(detail, length(?1) + 1) END
                WHERE reason = 'handleDied' AND substr(detail, 1, length(?1)) = ?1
                """, start, platform.rawValue)
        }
    }

    // MARK: - Deferred devices

    /// Leaves unreadable rows unchanged; they are reported when they are read.
    private static func splitDeferrals(in database: Database) throws {
        let rows = try database.all("SELECT key, holds FROM notification WHERE holds IS NOT NULL") { ($0.integer(0), $0.bytes(1)) }
        for (key, bytes) in rows {
            // The first version stored no marks.
            guard let holds = deferredDevices(bytes, hasMarks: true) ?? deferredDevices(bytes, hasMarks: false) else { continue }
            try database.run("UPDATE notification SET holds = ? WHERE key = ?", holds.stored, key)
        }
    }

    /// Reads the form of older versions, in which one text has the plugin and the reason. Nil for other bytes.
    private static func deferredDevices(_ bytes: [UInt8], hasMarks: Bool) -> DeferredDevices? {
        var devices = DeferredDevices()
        var marks: [UInt32: UInt32] = [:]
        let isWhole = bytes.withUnsafeBytes { buffer in
            var cursor = ByteCursor(buffer)
            while !cursor.isAtEnd, !cursor.isBeyond {
                let time = Timestamp(milliseconds: Int64(bitPattern: cursor.word()))
                let (reason, platform) = (cursor.text(), Platform(rawValue: cursor.text()))
                let count = cursor.count()
                var (rows, last) = ([UInt32](), UInt64(0))
                rows.reserveCapacity(count)
                for _ in 0..<count {
                    last += cursor.number() & 0xffff_ffff
                    guard let row = UInt32(exactly: last) else { return false }
                    rows.append(row)
                    if hasMarks { marks[row] = UInt32(truncatingIfNeeded: cursor.number()) }
                }
                guard let platform, !rows.isEmpty, !cursor.isBeyond else { return false }
                devices.add(RowSet(rows), on: platform, until: time, HookReason(sentence: reason))
            }
            return cursor.isAtEnd
        }
        guard isWhole else { return nil }
        devices.note { marks[$0, default: 0] }
        return devices
    }
}
