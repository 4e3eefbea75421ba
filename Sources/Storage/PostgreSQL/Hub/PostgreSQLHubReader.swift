import PushModel

/// Loads a hub into memory: one pass over each of its tables, page by page.
struct PostgreSQLHubReader {
    let hub: Int64
    let database: PostgreSQLConnection

    func read(into reader: inout some StoredHubReader) throws {
        try PostgreSQLInstallationTable(hub: hub, database: database).read(into: &reader)
        let registrations = PostgreSQLRegistrationTable(hub: hub, database: database)
        reader.expect(registrationsBelow: UInt32(clamping: try registrations.end()))
        try registrations.read(into: &reader)
        try PostgreSQLTombstoneTable(hub: hub, database: database).read(into: &reader)
        try PostgreSQLHeldRemovalTable(hub: hub, database: database).read(into: &reader)
        reader.end(lastSequence: try PostgreSQLNotificationTable(hub: hub, database: database).lastSequence())
    }
}
