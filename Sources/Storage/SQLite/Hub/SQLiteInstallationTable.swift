import GRDB
import PushModel

/// The installations of a hub in a database, by row.
struct SQLiteInstallationTable {
    let hub: Int64
    let database: Database

    /// - Parameter content: the installation as JSON.
    func put(_ put: InstallationRow, _ content: String) throws {
        try database.run(
            "INSERT OR REPLACE INTO installation (hub, place, expiration, content) VALUES (?, ?, ?, ?)", hub, put.row,
            put.expiration.milliseconds, content)
    }

    func remove(_ rowNumber: UInt32) throws { try database.run("DELETE FROM installation WHERE hub = ? AND place = ?", hub, rowNumber) }

    /// The installations in these rows. Empty rows are skipped.
    func installations(at rows: [UInt32]) throws -> [InstallationRow] {
        try rows.compactMap { rowNumber in
            try database.first("\(Self.selection) WHERE hub = ? AND place = ?", hub, rowNumber) { row in
                try reading(name(of: row)) { try InstallationRow(row) }
            }
        }
    }

    /// Passes all installations to a reader, in row order.
    func read(into reader: inout some StoredHubReader) throws {
        try database.each("\(Self.selection) WHERE hub = ? ORDER BY place", hub) { row in
            try reader.add(name(of: row), of: .installations, at: row.integer(0)) { reader in try reader.add(try InstallationRow(row)) }
        }
    }

    private static let selection = "SELECT \(InstallationRow.columns) FROM installation"

    private func name(of row: SQLiteRow) -> String { "the installation \(row.integer(0)) of hub \(hub)" }
}
