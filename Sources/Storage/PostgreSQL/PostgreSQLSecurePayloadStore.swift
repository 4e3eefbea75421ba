import PushModel

/// Secure payloads in a database.
struct PostgreSQLSecurePayloadStore: SecurePayloadStore {
    let database: PostgreSQLDatabase

    func insert(
        _ payload: SealedPayload, limit: SecurePayloadLimit, now: Timestamp
    ) async throws(PushError) -> SecurePayloadInsertion {
        try await database.write { database in
            if try database.first("SELECT 1 FROM secure_payload WHERE id = $1", payload.id, read: { _ in true }) != nil { return .idInUse }
            let readable = try database.all(
                """
                SELECT id, sender_key = normalize($1, NFC), granted_reads > 0 FROM secure_payload
                WHERE addressee_key = normalize($2, NFC) AND ending IS NULL ORDER BY expiration, id
                """, payload.sender.key, payload.recipient.key
            ) { SecurePayloadLimit.Readable(id: $0.text(0), isFromSender: $0.bool(1), wasRead: $0.bool(2)) }
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
            try database.all(
                """
                SELECT \(SecurePayloadRow.columns) FROM secure_payload
                WHERE addressee_key = normalize($1, NFC) AND ending IS NULL ORDER BY expiration, id
                """, recipient.key, read: SecurePayloadRow.payload)
        }
    }

    func readableByKey() async throws(PushError) -> [[UInt8]: Int] {
        let counts = try await database.read { database in
            try database.all("SELECT key_mark, count(*) FROM secure_payload WHERE ending IS NULL GROUP BY key_mark") {
                ($0.bytes(0), Int($0.integer(1)))
            }
        }
        return Dictionary(counts, uniquingKeysWith: +)
    }

    func unmarked(limit: Int) async throws(PushError) -> [SealedPayload] {
        try await database.read { database in
            try database.all(
                "SELECT \(SecurePayloadRow.columns) FROM secure_payload WHERE key_mark = $1 AND ending IS NULL LIMIT $2", [UInt8](), limit,
                read: SecurePayloadRow.payload)
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
        try await database.write { try $0.run("DELETE FROM secure_payload WHERE id = $1", id) }
    }

    func sweep(now: Timestamp, retention: Duration) async throws(PushError) -> Int {
        try await database.write { database in
            let ended = try database.run(
                "UPDATE secure_payload SET ending = $1, sealed = NULL WHERE expiration <= $2 AND ending IS NULL",
                SealedPayload.Ending.expired.rawValue, now.milliseconds)
            let (forgotten, overflow) = now.milliseconds.subtractingReportingOverflow(retention.milliseconds)
            if !overflow { database.later("DELETE FROM secure_payload WHERE expiration <= $1", forgotten) }
            return ended
        }
    }

    private static func put(_ payload: SealedPayload, in database: PostgreSQLConnection) throws {
        try database.run(
            """
            INSERT INTO secure_payload (\(SecurePayloadRow.columns), sender_key, addressee_key)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, normalize($11, NFC), normalize($12, NFC))
            ON CONFLICT (id) DO UPDATE SET sender = excluded.sender, addressee = excluded.addressee,
                expiration = excluded.expiration, maximum_reads = excluded.maximum_reads, sealed = excluded.sealed,
                granted_reads = excluded.granted_reads, ending = excluded.ending, reads = excluded.reads,
                key_mark = excluded.key_mark, sender_key = excluded.sender_key, addressee_key = excluded.addressee_key
            """, payload.id, payload.sender.text, payload.recipient.text, payload.expiration.milliseconds, payload.maximumReads,
            payload.sealed, payload.grantedReads, payload.ending?.rawValue, SecurePayloadRow.reads(of: payload), payload.keyMark,
            payload.sender.key, payload.recipient.key)
    }

    private static func payload(_ id: String, in database: PostgreSQLConnection) throws -> SealedPayload? {
        try database.first(
            "SELECT \(SecurePayloadRow.columns) FROM secure_payload WHERE id = $1", id, read: SecurePayloadRow.payload)
    }
}
