import PushModel

/// The removed registrations of a hub in a database.
struct PostgreSQLTombstoneTable {
    let hub: Int64
    let database: PostgreSQLConnection

    /// Records removals with details from the rows of the registrations, if these still exist.
    func record(_ removals: [RemovedRegistration]) {
        // A statement cannot store two rows with one id.
        let removals = Dictionary(removals.map { ($0.id, $0) }) { $1 }.values.sorted { $0.id.text < $1.id.text }
        if removals.isEmpty { return }
        func column<Value: PostgreSQLValue>(_ value: (RegistrationTombstone) -> Value) -> PostgreSQLArray<Value> {
            PostgreSQLArray(removals.map { value($0.tombstone) })
        }
        database.later(
            """
            INSERT INTO departure (hub, id, time, reason, detail, platform, handle, expiration, installation)
            SELECT $1, removed.id, removed.time, removed.reason, removed.detail, coalesce(registration.platform, removed.platform), handle,
                expiration, installation
            FROM unnest($2, $3, $4, $5, $6, $7) AS removed (id, time, reason, detail, place, platform)
                LEFT JOIN registration ON registration.hub = $1 AND registration.place = removed.place
            ON CONFLICT (hub, id) DO UPDATE SET time = excluded.time, reason = excluded.reason, detail = excluded.detail,
                platform = excluded.platform, handle = excluded.handle, expiration = excluded.expiration,
                installation = excluded.installation
            """, hub, PostgreSQLArray(removals.map(\.id.text)), column(\.time.milliseconds), column(\.reason.storedText),
            column(\.reason.report?.reason), PostgreSQLArray(removals.map(\.row)), column(\.reason.report?.platform?.rawValue))
    }

    /// Forgets the removals of registrations whose ids are in use again.
    func remove(_ ids: [RegistrationID]) {
        if ids.isEmpty { return }
        database.later("DELETE FROM departure WHERE hub = $1 AND id = ANY($2)", hub, PostgreSQLArray(ids.map(\.text)))
    }

    func deletedRegistrations(_ subject: DeletedRegistrationFilter, limit: Int) throws -> [DeletedRegistration] {
        func all(_ condition: String, _ key: String) throws -> [DeletedRegistration] {
            try database.all(
                """
                SELECT \(DeletedRegistration.columns) FROM departure
                WHERE hub = $1 AND handle IS NOT NULL AND \(condition) ORDER BY time DESC, id LIMIT $3
                """, hub, key, limit, read: DeletedRegistration.init(stored:))
        }
        switch subject {
        case .installation(let id): return try all("md5(installation) = md5($2) AND installation = $2", id)
        case .registration(let id): return try all("id = $2", id.text)
        case .handle(let handle):
            // Handles of different platforms may have the same text.
            return try all("md5(handle) = md5($2) AND handle = $2", handle.storedText).filter { $0.handle == handle }
        }
    }

    func forget(before time: Timestamp, limit: Int) throws -> Int {
        try database.run(
            """
            DELETE FROM departure WHERE hub = $1 AND id IN
                (SELECT id FROM departure WHERE hub = $1 AND time < $2 ORDER BY time LIMIT $3)
            """, hub, time.milliseconds, limit)
    }

    /// Passes all tombstones to a reader, in pages.
    func read(into reader: inout some StoredHubReader) throws {
        let page = PostgreSQLRegistrationTable.page
        var last = ""
        while true {
            let rows = try database.all(
                "SELECT id, time, reason, detail, platform FROM departure WHERE hub = $1 AND id > $2 ORDER BY id LIMIT $3", hub, last, page
            ) { $0 }
            for row in rows {
                try reader.add("the departure of \(row.text(0)) from hub \(hub)", of: .tombstones) { reader in
                    reader.add(try RegistrationTombstone(stored: row), of: try RegistrationID(stored: row.text(0)))
                }
            }
            guard rows.count == page, let end = rows.last else { return }
            last = end.text(0)
        }
    }
}
