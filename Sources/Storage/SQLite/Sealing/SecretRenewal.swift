import GRDB
import PushModel

/// Replaces secrets that cannot be opened, in one transaction. Others are unchanged.
struct SecretRenewal {
    let seal: SecretSeal
    let now: Timestamp
    let database: Database

    func run() throws -> RenewedSecrets {
        var renewed = RenewedSecrets()
        renewed.keys = try renewNamespace()
        renewed.hubs = try renewHubs()
        renewed.tokens = try removeTokens()
        renewed.values = try removeValues()
        renewed.jobs = try endJobs()
        try database.run("UPDATE secret_key SET id = ?", seal.keyID)
        return renewed
    }

    private func opens(_ sealed: [UInt8]?, _ field: SealedField) -> Bool { (try? seal.json(sealed, of: field)) != nil }

    // MARK: - Access keys and push credentials

    private func renewNamespace() throws -> [String] {
        guard let row = try database.first("SELECT rules, secrets FROM namespace", read: { (try $0.json(0), $0.optional(1, $0.bytes)) }),
            !opens(row.1, .namespace)
        else { return [] }
        let rules = try reading("the row of the namespace") { try renewed(row.0) }
        try database.run(
            "UPDATE namespace SET rules = ?, secrets = ?", rules.json.text(),
            try seal.seal(["rules": rules.keys], for: .namespace))
        return rules.rules.map(\.name)
    }

    private func renewHubs() throws -> [RenewedSecrets.Hub] {
        let hubs = try database.all("SELECT number, name, description, secrets FROM hub ORDER BY number") { row in
            (number: row.integer(0), name: row.text(1), description: try row.json(2), secrets: row.optional(3, row.bytes))
        }
        return try hubs.filter { !opens($0.secrets, .hub($0.number)) }.map { hub in
            try reading("hub \(hub.number)") {
                var object = try hub.description.storedObject()
                let credentials = try object["platforms"]?.storedArray().compactMap(\.string) ?? []
                object["platforms"] = nil
                let rules = try renewed(hub.description.required("rules"))
                object["rules"] = rules.json
                try database.run(
                    "UPDATE hub SET description = ?, secrets = ? WHERE number = ?", JSON.object(object).text(),
                    try seal.seal(["rules": rules.keys], for: .hub(hub.number)), hub.number)
                return RenewedSecrets.Hub(name: hub.name, keys: rules.rules.map(\.name), credentials: credentials)
            }
        }
    }

    private func renewed(_ rules: JSON) throws -> AccessRuleRows {
        let keys = try rules.storedArray().map { rule in
            JSON.array([
                try rule.required("name"), .string(SharedAccessKey.make(seal.random).reveal()),
                .string(SharedAccessKey.make(seal.random).reveal()),
            ])
        }
        return AccessRuleRows(
            try AccessRuleRows(rules, keys: .array(keys)).rules.map { rule in
                var rule = rule
                rule.modifiedAt = now
                return rule
            })
    }

    // MARK: - Secrets that cannot be regenerated

    private func removeTokens() throws -> Int {
        let tokens = try database.all("SELECT key, secrets FROM provider_token") { ($0.text(0), $0.bytes(1)) }
        let lost = tokens.filter { (try? seal.open($0.1, of: .providerToken($0.0))) == nil }
        for (key, _) in lost { try database.run("DELETE FROM provider_token WHERE key = ?", key) }
        return lost.count
    }

    private func removeValues() throws -> [String: Int] {
        let kind = SQLiteSpace.Kind.value.rawValue
        var removed: [String: Int] = [:]
        var last: Int64 = 0
        while let row = try database.first(
            """
            SELECT key_value.id, name, key, content FROM key_value JOIN key_value_space ON space = number
            WHERE kind = \(kind) AND key_value.id > ? ORDER BY key_value.id LIMIT 1
            """, last, read: { (id: $0.integer(0), space: $0.text(1), key: $0.bytes(2), content: $0.bytes(3)) })
        {
            last = row.id
            let field = SealedField.value(String(decoding: row.key, as: UTF8.self), space: row.space)
            guard (try? seal.open(row.content, of: field)) == nil else { continue }
            try database.run("DELETE FROM key_value WHERE id = ?", row.id)
            removed[row.space, default: 0] += 1
        }
        for space in removed.keys {
            try database.run(
                """
                UPDATE key_value_space SET
                    entries = (SELECT count(*) FROM key_value WHERE space = number),
                    bytes = (SELECT coalesce(sum(\(SQLiteSpace.size)), 0) FROM key_value WHERE space = number)
                WHERE name = ?
                """, space)
        }
        return removed
    }

    /// Ends jobs that lost their addresses, without which they cannot continue. Their other properties are unchanged.
    private func endJobs() throws -> Int {
        let jobs = try database.all("SELECT hub, id, secrets FROM job") { ($0.integer(0), $0.text(1), $0.bytes(2)) }
        let lost = jobs.filter { !opens($0.2, .job($0.1, hub: $0.0)) }
        for (hub, id, _) in lost {
            let content: JSON = ["output": "", "failure": "its addresses were encrypted with a key that is lost"]
            try database.run(
                "UPDATE job SET status = iif(is_final, status, ?), is_final = 1, updated_at = iif(is_final, updated_at, ?), secrets = ? "
                    + "WHERE hub = ? AND id = ?", NotificationHubJob.Status.failed.rawValue, now.milliseconds,
                try seal.seal(content, for: .job(id, hub: hub)), hub, id)
        }
        return lost.count
    }
}
