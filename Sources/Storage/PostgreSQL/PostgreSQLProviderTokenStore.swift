import PushModel

/// Provider tokens in a database.
struct PostgreSQLProviderTokenStore: ProviderTokenStore {
    let database: PostgreSQLDatabase

    func token(_ key: String) async throws(PushError) -> ProviderToken? {
        try await database.read { [seal = database.seal] database in
            try database.first("SELECT secrets, issued_at FROM provider_token WHERE key = $1", key) { row in
                try reading("the token for a push service of the key \(key)") {
                    let token = String(decoding: try seal.open(row.bytes(0), of: .providerToken(key)), as: UTF8.self)
                    return ProviderToken(token: Secret(token), issuedAt: row.time(1))
                }
            }
        }
    }

    func put(_ token: ProviderToken, for key: String) async throws(PushError) {
        let secrets = try database.seal.seal(Array(token.token.reveal().utf8), for: .providerToken(key))
        try await database.write { database in
            try database.run(
                """
                INSERT INTO provider_token (key, issued_at, secrets) VALUES ($1, $2, $3)
                ON CONFLICT (key) DO UPDATE SET issued_at = excluded.issued_at, secrets = excluded.secrets
                """, key, token.issuedAt.milliseconds, secrets)
        }
    }
}
