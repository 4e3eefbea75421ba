import PushModel

/// The installations of a hub in a database, by row.
struct PostgreSQLInstallationTable {
    let hub: Int64
    let database: PostgreSQLConnection

    /// - Parameter contents: the installations as JSON.
    func put(_ puts: [InstallationRow], _ contents: [String]) {
        if puts.isEmpty { return }
        database.later(
            """
            INSERT INTO installation (hub, place, expiration, content) SELECT $1, * FROM unnest($2, $3, $4)
            ON CONFLICT (hub, place) DO UPDATE SET expiration = excluded.expiration, content = excluded.content
            """, hub, PostgreSQLArray(puts.map(\.row)), PostgreSQLArray(puts.map(\.expiration.milliseconds)), PostgreSQLArray(contents))
    }

    func remove(_ rows: [UInt32]) {
        if rows.isEmpty { return }
        database.later("DELETE FROM installation WHERE hub = $1 AND place = ANY($2)", hub, PostgreSQLArray(rows))
    }

    /// The installations in these rows, in the requested order. Empty rows are skipped.
    func installations(at rows: [UInt32]) throws -> [InstallationRow] {
        let found = try database.all(
            "SELECT \(InstallationRow.columns) FROM installation WHERE hub = $1 AND place = ANY($2)", hub, PostgreSQLArray(rows)
        ) { row in try reading(name(of: row)) { try InstallationRow(row) } }
        let byRow = Dictionary(found.map { ($0.row, $0) }) { $1 }
        return rows.compactMap { byRow[$0] }
    }

    /// Passes all installations to a reader, in row order, in pages.
    func read(into reader: inout some StoredHubReader) throws {
        let page = PostgreSQLRegistrationTable.page
        var last: Int64 = .min
        while true {
            let rows = try database.all(
                "SELECT \(InstallationRow.columns) FROM installation WHERE hub = $1 AND place > $2 ORDER BY place LIMIT $3", hub, last, page
            ) { $0 }
            for row in rows {
                try reader.add(name(of: row), of: .installations, at: row.integer(0)) { try $0.add(try InstallationRow(row)) }
            }
            guard rows.count == page, let end = rows.last else { return }
            last = end.integer(0)
        }
    }

    private func name(of row: PostgreSQLRow) -> String { "the installation \(row.integer(0)) of hub \(hub)" }
}
