import GRDB
import PushCore

/// Tokens in a database.
struct SQLiteProviderTokenStore: ProviderTokenStore {
    let database: SQLiteDatabase

    func token(_ key: String) async throws(PushError) -> ProviderToken? {
        try await database.read { database in
            try database.first("SELECT token, issued_at FROM provider_token WHERE key = ?", key) { row in
                ProviderToken(token: Secret(row.text(0)), issuedAt: row.time(1))
            }
        }
    }

    func put(_ token: ProviderToken, for key: String) async throws(PushError) {
        try await database.write { database in
            try database.run(
                "INSERT OR REPLACE INTO provider_token (key, token, issued_at) VALUES (?, ?, ?)", key, token.token.reveal(),
                token.issuedAt.milliseconds)
        }
    }
}
