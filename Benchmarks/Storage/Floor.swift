import GRDBSQLite
import PushModel

/// Measures SQLite itself with the same bytes: one thread, prepared statements, no index, every commit synced to the disk.
struct Floor {
    struct Failure: Error {
        let message: String
    }

    let path: String

    /// Rows per second.
    func rate(total: Int, batch: Int) throws -> Double {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        try check(sqlite3_open(path, &database), database)
        try check(
            sqlite3_exec(
                database,
                """
                PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -32768;
                CREATE TABLE notification (sequence INTEGER PRIMARY KEY, id TEXT, request TEXT, state TEXT, tags TEXT, enqueued_at INTEGER)
                """, nil, nil, nil), database)
        var insert: OpaquePointer?
        defer { sqlite3_finalize(insert) }
        try check(sqlite3_prepare_v2(database, "INSERT INTO notification VALUES (?, ?, ?, ?, ?, ?)", -1, &insert, nil), database)
        let random = MachineRandom()
        // As large as the rows of the store.
        let request = #"{"tags":"\#(Load.tags)","native":{"apns":{"text":\#(JSON.string(Load.payload).text())}}}"#
        let time = try ContinuousClock().measure {
            for first in stride(from: 1, to: total + 1, by: batch) {
                try check(sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil), database)
                for number in first..<first + batch {
                    sqlite3_bind_int64(insert, 1, Int64(number))
                    for (index, text) in zip(
                        Int32(2)..., ["\(random.hex(32))-20260105090000-\(number)-1", request, "Enqueued", Load.tags])
                    {
                        sqlite3_bind_text(insert, index, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
                    }
                    sqlite3_bind_int64(insert, 6, 1_767_603_600_000)
                    guard sqlite3_step(insert) == SQLITE_DONE else { throw failure(database) }
                    sqlite3_reset(insert)
                }
                try check(sqlite3_exec(database, "COMMIT", nil, nil, nil), database)
            }
        }
        return Double(total) / (time / .seconds(1))
    }

    private func check(_ code: Int32, _ database: OpaquePointer?) throws {
        guard code == SQLITE_OK else { throw failure(database) }
    }

    private func failure(_ database: OpaquePointer?) -> Failure { Failure(message: String(cString: sqlite3_errmsg(database))) }
}
