import GRDB
import PushCore

/// Accounts and sessions in a database.
struct SQLiteAccountStore: AccountStore {
    let database: SQLiteDatabase

    func account(_ user: Tag) async throws(PushError) -> Account? {
        try await database.read { database in
            try database.first("SELECT \(Self.columns) FROM account WHERE user = ?", user.text, read: Self.account)
        }
    }

    func insert(_ account: Account) async throws(PushError) -> Bool {
        try await database.write { database in
            let before = database.totalChangesCount
            try database.run(
                "INSERT INTO account (\(Self.columns)) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", account.user.text,
                account.username, account.hash.cost, account.hash.salt, account.hash.digest)
            return database.totalChangesCount > before
        }
    }

    func accounts(after user: Tag?, limit: Int) async throws(PushError) -> [Account] {
        try await database.read { database in
            guard let user else {
                return try database.all("SELECT \(Self.columns) FROM account ORDER BY user LIMIT ?", limit, read: Self.account)
            }
            return try database.all(
                "SELECT \(Self.columns) FROM account WHERE user > ? ORDER BY user LIMIT ?", user.text, limit, read: Self.account)
        }
    }

    func open(_ session: StoredSession) async throws(PushError) {
        try await database.write { database in
            try database.run(
                "INSERT OR REPLACE INTO session (digest, username, expiration) VALUES (?, ?, ?)", session.digest, session.username,
                session.expiration.milliseconds)
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

    private static let columns = "user, username, cost, salt, digest"

    private static func account(_ row: SQLRow) throws -> Account {
        try reading("the account \(row.text(0))") {
            Account(
                user: try Tag(stored: row.text(0)), username: row.text(1),
                hash: PasswordHash(cost: Int(row.integer(2)), salt: row.bytes(3), digest: row.bytes(4)))
        }
    }
}
