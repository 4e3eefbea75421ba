import GRDB
import PushModel

/// Secure payloads in a database.
struct SQLiteSecurePayloadStore: SecurePayloadStore {
    let database: SQLiteDatabase

    func insert(
        _ payload: SealedPayload, limit: SecurePayloadLimit, now: Timestamp
    ) async throws(PushError) -> SecurePayloadInsertion {
        try await database.write { database in
            if try database.first("SELECT 1 FROM secure_payload WHERE id = ?", payload.id, read: { _ in true }) != nil {
                return .idInUse
            }
            let readable = try database.all(
                """
                SELECT id, sender = ? COLLATE tag, granted_reads > 0 FROM secure_payload
                WHERE addressee = ? AND ending IS NULL ORDER BY expiration, id
                """, payload.sender.text, payload.recipient.text
            ) { SecurePayloadLimit.Readable(id: $0.text(0), isFromSender: $0.integer(1) != 0, wasRead: $0.integer(2) != 0) }
            var insertion = SecurePayloadInsertion.inserted
            switch limit.decision(among: readable) {
            case .free: break
            case .none(let refusal): return refusal
            case .displacing(let id):
                guard var other = try Self.payload(id, in: database) else { break }
                insertion = .displacedOther(of: other)
                other.expireEarly(at: now)
                try Self.put(other, in: database)
            }
            try Self.put(payload, in: database)
            return insertion
        }
    }

    func payload(_ id: String) async throws(PushError) -> SealedPayload? {
        try await database.read { try Self.payload(id, in: $0) }
    }

    func readable(by recipient: Tag) async throws(PushError) -> [SealedPayload] {
        try await database.read { database in
            let ids = try database.all(
                "SELECT id FROM secure_payload WHERE addressee = ? AND ending IS NULL ORDER BY expiration, id", recipient.text
            ) { $0.text(0) }
            return try ids.compactMap { try Self.payload($0, in: database) }
        }
    }

    func readableByKey() async throws(PushError) -> [[UInt8]: Int] {
        try await database.read { try Self.readableByKey(in: $0) }
    }

    /// Also works with databases from before keys were recorded.
    static func readableByKey(in database: Database) throws -> [[UInt8]: Int] {
        guard try database.columns(in: "secure_payload").contains(where: { $0.name == "key_mark" }) else {
            let count = try database.first("SELECT count(*) FROM secure_payload WHERE ending IS NULL") { Int($0.integer(0)) } ?? 0
            return count > 0 ? [[]: count] : [:]
        }
        let counts = try database.all("SELECT key_mark, count(*) FROM secure_payload WHERE ending IS NULL GROUP BY key_mark") {
            ($0.bytes(0), Int($0.integer(1)))
        }
        return Dictionary(counts, uniquingKeysWith: +)
    }

    func unmarked(limit: Int) async throws(PushError) -> [SealedPayload] {
        try await database.read { database in
            let ids = try database.all("SELECT id FROM secure_payload WHERE key_mark = x'' AND ending IS NULL LIMIT ?", limit) {
                $0.text(0)
            }
            return try ids.compactMap { try Self.payload($0, in: database) }
        }
    }

    func update<Result: Sendable>(
        _ id: String, _ change: @escaping @Sendable (inout SealedPayload) throws(PushError) -> Result
    ) async throws(PushError) -> Result? {
        try await database.write { database in
            guard var payload = try Self.payload(id, in: database) else { return nil }
            let before = payload
            let result = try change(&payload)
            if payload != before { try Self.put(payload, in: database) }
            return result
        }
    }

    func remove(_ id: String) async throws(PushError) {
        try await database.write { try $0.run("DELETE FROM secure_payload WHERE id = ?", id) }
    }

    func sweep(now: Timestamp, retention: Duration) async throws(PushError) -> Int {
        try await database.write { database in
            let before = database.totalChangesCount
            try database.run(
                "UPDATE secure_payload SET ending = ?, sealed = NULL WHERE expiration <= ? AND ending IS NULL",
                SealedPayload.Ending.expired.rawValue, now.milliseconds)
            let ended = database.totalChangesCount - before
            let (forgotten, overflow) = now.milliseconds.subtractingReportingOverflow(retention.milliseconds)
            if !overflow { try database.run("DELETE FROM secure_payload WHERE expiration <= ?", forgotten) }
            return ended
        }
    }

    private static func put(_ payload: SealedPayload, in database: Database) throws {
        try database.run(
            """
            INSERT INTO secure_payload (\(SecurePayloadRow.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET sender = excluded.sender, addressee = excluded.addressee,
                expiration = excluded.expiration, maximum_reads = excluded.maximum_reads, sealed = excluded.sealed,
                granted_reads = excluded.granted_reads, ending = excluded.ending, reads = excluded.reads,
                key_mark = excluded.key_mark
            """, payload.id, payload.sender.text, payload.recipient.text, payload.expiration.milliseconds, payload.maximumReads,
            payload.sealed, payload.grantedReads, payload.ending?.rawValue, SecurePayloadRow.reads(of: payload),
            payload.keyMark)
    }

    private static func payload(_ id: String, in database: Database) throws -> SealedPayload? {
        try database.first("SELECT \(SecurePayloadRow.columns) FROM secure_payload WHERE id = ?", id) { row in
            try SecurePayloadRow.payload(row)
        }
    }
}
