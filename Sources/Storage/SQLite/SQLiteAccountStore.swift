import GRDB
import PushModel

/// Accounts and sessions in a database.
struct SQLiteAccountStore: AccountStore, SessionStore {
    let database: SQLiteDatabase

    func account(_ user: Tag) async throws(PushError) -> Account? {
        try await database.read { database in
            try database.first("SELECT user, \(AccountRow.columns) FROM account WHERE user = ?", user.text, read: AccountRow.account)
        }
    }

    func insert(_ account: Account) async throws(PushError) -> Bool {
        try await database.write { database in
            let before = database.totalChangesCount
            try database.run(
                "INSERT INTO account (user, \(AccountRow.columns)) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", account.user.text,
                account.username, account.hash.cost, account.hash.salt, account.hash.digest)
            guard database.totalChangesCount > before else { return false }
            try Self.endSessions(of: account.user, in: database)
            return true
        }
    }

    func update(_ account: Account) async throws(PushError) -> Bool {
        try await database.write { database in
            let before = database.totalChangesCount
            try database.run(
                "UPDATE account SET username = ?, cost = ?, salt = ?, digest = ? WHERE user = ?", account.username, account.hash.cost,
                account.hash.salt, account.hash.digest, account.user.text)
            guard database.totalChangesCount > before else { return false }
            try Self.endSessions(of: account.user, in: database)
            return true
        }
    }

    func remove(_ user: Tag) async throws(PushError) -> Bool {
        try await database.write { database in
            let before = database.totalChangesCount
            try database.run("DELETE FROM account WHERE user = ?", user.text)
            guard database.totalChangesCount > before else { return false }
            try Self.endSessions(of: user, in: database)
            try database.run("DELETE FROM secure_payload WHERE addressee = ? OR sender = ? COLLATE tag", user.text, user.text)
            return true
        }
    }

    /// Sessions store the user name as it was spelled at login.
    private static func endSessions(of user: Tag, in database: Database) throws {
        try database.run("DELETE FROM session WHERE 'username:' || username = ? COLLATE tag", user.text)
    }

    func accounts(after user: Tag?, limit: Int) async throws(PushError) -> [Account] {
        try await database.read { database in
            guard let user else {
                return try database.all(
                    "SELECT user, \(AccountRow.columns) FROM account ORDER BY user LIMIT ?", limit, read: AccountRow.account)
            }
            return try database.all(
                "SELECT user, \(AccountRow.columns) FROM account WHERE user > ? ORDER BY user LIMIT ?", user.text, limit,
                read: AccountRow.account)
        }
    }

    func count(cheaperThan cost: ScryptCost) async throws(PushError) -> Int {
        try await database.read { try Self.count(cheaperThan: cost, in: $0) }
    }

    static func count(cheaperThan cost: ScryptCost, in database: Database) throws -> Int {
        Int(try database.first("SELECT count(*) FROM account WHERE cost < ?", cost.n) { $0.integer(0) } ?? 0)
    }

    func open(_ session: StoredSession, of user: Tag, with hash: PasswordHash?) async throws(PushError) -> Bool {
        try await database.write { database in
            let account = try database.first(
                "SELECT user, \(AccountRow.columns) FROM account WHERE user = ?", user.text, read: AccountRow.account)
            guard account?.hash == hash else { return false }
            try database.run(
                "INSERT OR REPLACE INTO session (digest, username, expiration) VALUES (?, ?, ?)", session.digest, session.username,
                session.expiration.milliseconds)
            return true
        }
    }

    func session(_ digest: [UInt8]) async throws(PushError) -> StoredSession? {
        try await database.read { database in
            try database.first("SELECT username, expiration FROM session WHERE digest = ?", digest) { row in
                StoredSession(digest: digest, username: row.text(0), expiration: row.time(1))
            }
        }
    }

    func close(_ digest: [UInt8]) async throws(PushError) {
        try await database.write { try $0.run("DELETE FROM session WHERE digest = ?", digest) }
    }

    func removeExpired(now: Timestamp, limit: Int) async throws(PushError) -> Int {
        try await database.write { database in
            let before = database.totalChangesCount
            try database.run(
                "DELETE FROM session WHERE digest IN (SELECT digest FROM session WHERE expiration <= ? ORDER BY expiration LIMIT ?)",
                now.milliseconds, limit)
            return database.totalChangesCount - before
        }
    }
}
