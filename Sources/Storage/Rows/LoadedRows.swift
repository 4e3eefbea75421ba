import PushModel

extension StoredHubReader {
    /// Adds a row, or reports it as unreadable.
    ///
    /// - Parameters:
    ///   - name: of the row, for messages.
    ///   - rowNumber: its row number; nil for tables without row numbers.
    mutating func add(
        _ name: @autoclosure () -> String, of table: UnreadableRow.Table, at rowNumber: Int64? = nil, _ add: (inout Self) throws -> Void
    ) throws {
        do {
            try reading(name()) { try add(&self) }
        } catch let error as PushError where error.code == "storage.corrupt" {
            self.add(UnreadableRow(table: table, row: rowNumber.flatMap { UInt32(exactly: $0) }, reason: error.message))
        }
    }
}

extension InstallationRow {
    /// The columns that `init(_:)` reads.
    static let columns = "place, expiration, content"

    init(_ row: some SQLRow) throws {
        self.init(row: try row.rowNumber(0), installation: try Installation(stored: row.json(2)), expiration: row.time(1))
    }
}

extension HeldRemoval {
    /// The columns that `init(_:)` reads.
    static let columns = "number, time, valid_before, notification, platform, handle, reason"

    init(_ row: some SQLRow) throws {
        self.init(
            number: row.integer(0), handle: try DeviceHandle(platform: Platform(stored: row.text(4)), stored: row.text(5)),
            reason: row.text(6), notificationID: row.text(3), time: row.time(1), validBefore: row.time(2))
    }
}
