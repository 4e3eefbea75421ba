import CMalloc
import GRDB
import PushModel

/// Loads a hub into memory: one pass over each of its tables, row by row.
struct SQLiteHubReader {
    let hub: Int64
    let database: Database

    /// Number of rows from which returning memory to the system pays off.
    private static let trimming = 50_000

    func read(into reader: inout some StoredHubReader) throws {
        try SQLiteInstallationTable(hub: hub, database: database).read(into: &reader)
        let registrations = SQLiteRegistrationTable(hub: hub, database: database)
        let end = try registrations.end()
        reader.expect(registrationsBelow: UInt32(clamping: end))
        try registrations.read(into: &reader)
        try SQLiteTombstoneTable(hub: hub, database: database).read(into: &reader)
        try SQLiteHeldRemovalTable(hub: hub, database: database).read(into: &reader)
        reader.end(lastSequence: try SQLiteNotificationTable(hub: hub, database: database).lastSequence())
        // Temporary sort buffers amount to a sixth of the data that stays. Return them to the system.
        if end > Self.trimming { malloc_trim(0) }
    }
}
