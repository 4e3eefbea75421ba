import PushModel

/// Accounts and sessions in a database. Users are found by their tags in lower case and in Unicode's composed form, which the server makes.
struct PostgreSQLAccountStore: AccountStore, SessionStore {
    let database: PostgreSQLDatabase

    private static let columns = "user_tag, \(AccountRow.columns)"

    func account(_ user: Tag) async throws(PushError) -> Account? {
        try await database.read { database in
            try database.first(
                "SELECT \(Self.columns) FROM account WHERE user_key = normalize($1, NFC)", user.key, read: AccountRow.account)
        }
    }

    func insert(_ account: Account) async throws(PushError) -> Bool {
        try await database.write { database in
            let inserted = try database.run(
                """
                INSERT INTO account (user_key, \(Self.columns)) VALUES (normalize($1, NFC), $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
                """, account.user.key, account.user.text, account.username, account.hash.cost, account.hash.salt, account.hash.digest)
            guard inserted > 0 else { return false }
            Self.endSessions(of: account.user, in: database)
            return true
        }
    }

    func update(_ account: Account) async throws(PushError) -> Bool {
        try await database.write { database in
            let updated = try database.run(
                "UPDATE account SET username = $2, cost = $3, salt = $4, digest = $5 WHERE user_key = normalize($1, NFC)",
                account.user.key, account.username, account.hash.cost, account.hash.salt, account.hash.digest)
            guard updated > 0 else { return false }
            Self.endSessions(of: account.user, in: database)
            return true
        }
    }

    func remove(_ user: Tag) async throws(PushError) -> Bool {
        try await database.write { database in
            guard try database.run("DELETE FROM account WHERE user_key = normalize($1, NFC)", user.key) > 0 else { return false }
            Self.endSessions(of: user, in: database)
            database.later(
                "DELETE FROM secure_payload WHERE addressee_key = normalize($1, NFC) OR sender_key = normalize($1, NFC)", user.key)
            return true
        }
    }

    private static func endSessions(of user: Tag, in database: PostgreSQLConnection) {
        database.later("DELETE FROM session WHERE user_key = normalize($1, NFC)", user.key)
    }

    func accounts(after user: Tag?, limit: Int) async throws(PushError) -> [Account] {
        try await database.read { database in
            try database.all(
                "SELECT \(Self.columns) FROM account WHERE user_key > normalize($1, NFC) ORDER BY user_key LIMIT $2", user?.key ?? "",
                limit, read: AccountRow.account)
        }
    }

    func count(cheaperThan cost: ScryptCost) async throws(PushError) -> Int {
        try await database.read { Int(try $0.first("SELECT count(*) FROM account WHERE cost < $1", cost.n) { $0.integer(0) } ?? 0) }
    }

    func open(_ session: StoredSession, of user: Tag, with hash: PasswordHash?) async throws(PushError) -> Bool {
        try await database.write { database in
            let account = try database.first(
                "SELECT \(Self.columns) FROM account WHERE user_key = normalize($1, NFC)", user.key, read: AccountRow.account)
            guard account?.hash == hash else { return false }
            try database.run(
                """
                INSERT INTO session (digest, user_key, username, expiration) VALUES ($1, normalize($2, NFC), $3, $4)
                ON CONFLICT (digest) DO UPDATE SET user_key = excluded.user_key, username = excluded.username,
                    expiration = excluded.expiration
                """, session.digest, user.key, session.username, session.expiration.milliseconds)
            return true
        }
    }

    func session(_ digest: [UInt8]) async throws(PushError) -> StoredSession? {
        try await database.read { database in
            try database.first("SELECT username, expiration FROM session WHERE digest = $1", digest) { row in
                StoredSession(digest: digest, username: row.text(0), expiration: row.time(1))
            }
        }
    }

    func close(_ digest: [UInt8]) async throws(PushError) {
        try await database.write { try $0.run("DELETE FROM session WHERE digest = $1", digest) }
    }

    func removeExpired(now: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await database.write { database in
            try database.run(
                """
                DELETE FROM session WHERE digest IN
                    (SELECT digest FROM session WHERE expiration <= $1 ORDER BY expiration LIMIT $2)
                """, now.milliseconds, limit)
        }
    }
}
