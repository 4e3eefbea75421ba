import GRDB
import PushModel

/// Seals secrets that earlier versions stored in clear, in the columns of the records that they belong to.
enum SecretMigration {
    private static let tables = """
        -- Sealed by SecretSeal.
        ALTER TABLE namespace ADD COLUMN secrets BLOB;
        ALTER TABLE hub ADD COLUMN secrets BLOB;
        ALTER TABLE provider_token ADD COLUMN secrets BLOB;
        ALTER TABLE job ADD COLUMN secrets BLOB;
        -- The id of the key, and whether all pages and the log are free of secrets stored in clear.
        CREATE TABLE secret_key (
            key INTEGER PRIMARY KEY CHECK (key = 1), id BLOB NOT NULL, is_clean INTEGER NOT NULL
        ) STRICT;
        """

    /// Throws `storage.corrupt` for an unreadable row, because its secrets cannot be found.
    static func seal(with seal: SecretSeal, in database: Database) throws {
        // Overwrites replaced content within its page. Older pages are erased later, when the database is rewritten.
        let erasing = try database.first("PRAGMA secure_delete") { $0.integer(0) } ?? 0
        try database.execute(sql: "PRAGMA secure_delete = ON")
        try database.execute(sql: tables)
        var sealed = try namespace(seal, database)
        sealed += try hubs(seal, database)
        sealed += try tokens(seal, database)
        sealed += try jobs(seal, database)
        sealed += try values(seal, database)
        // Free pages may contain content deleted earlier, unless the database is new.
        let isNew = try sealed == 0 && database.first("SELECT last_hub FROM namespace") { $0.integer(0) } == 0
        try database.run("INSERT INTO secret_key (key, id, is_clean) VALUES (1, ?, ?)", seal.keyID, isNew)
        try database.execute(sql: "PRAGMA secure_delete = \(erasing == 2 ? "FAST" : erasing == 1 ? "ON" : "OFF")")
    }

    private static func namespace(_ seal: SecretSeal, _ database: Database) throws -> Int {
        guard let rules = try database.first("SELECT rules FROM namespace", read: { $0.text(0) }), rules != "[]" else { return 0 }
        let (clear, keys) = try reading("the row of the namespace") { try split(rules: JSON(parsing: Array(rules.utf8))) }
        try database.run(
            "UPDATE namespace SET rules = ?, secrets = ?", clear.text(), try seal.seal(["rules": keys], for: .namespace))
        return 1
    }

    private static func hubs(_ seal: SecretSeal, _ database: Database) throws -> Int {
        let hubs = try database.all("SELECT number, description FROM hub") { row in
            (number: row.integer(0), parts: try reading("hub \(row.integer(0))") { try split(description: row.json(1)) })
        }
        for hub in hubs {
            try database.run(
                "UPDATE hub SET description = ?, secrets = ? WHERE number = ?", hub.parts.clear.text(),
                try seal.seal(hub.parts.secrets, for: .hub(hub.number)), hub.number)
        }
        return hubs.count
    }

    private static func tokens(_ seal: SecretSeal, _ database: Database) throws -> Int {
        let tokens = try database.all("SELECT key, token FROM provider_token") { ($0.text(0), $0.text(1)) }
        for (key, token) in tokens {
            try database.run(
                "UPDATE provider_token SET token = '', secrets = ? WHERE key = ?",
                try seal.seal(Array(token.utf8), for: .providerToken(key)), key)
        }
        return tokens.count
    }

    private static func jobs(_ seal: SecretSeal, _ database: Database) throws -> Int {
        let jobs = try database.all("SELECT hub, id, content FROM job") { ($0.integer(0), $0.text(1), $0.text(2)) }
        for (hub, id, content) in jobs {
            try database.run(
                "UPDATE job SET content = '', secrets = ? WHERE hub = ? AND id = ?",
                try seal.seal(Array(content.utf8), for: .job(id, hub: hub)), hub, id)
        }
        return jobs.count
    }

    /// Processes values one at a time, because there may be many.
    private static func values(_ seal: SecretSeal, _ database: Database) throws -> Int {
        var (last, count): (Int64, Int) = (0, 0)
        while let row = try database.first(
            """
            SELECT key_value.id, name, key, content FROM key_value JOIN key_value_space ON space = number
            WHERE kind = \(SQLiteSpace.Kind.value.rawValue) AND key_value.id > ? ORDER BY key_value.id LIMIT 1
            """, last, read: { (id: $0.integer(0), space: $0.text(1), key: $0.bytes(2), content: $0.bytes(3)) })
        {
            let field = SealedField.value(String(decoding: row.key, as: UTF8.self), space: row.space)
            try database.run("UPDATE key_value SET content = ? WHERE id = ?", try seal.seal(row.content, for: field), row.id)
            (last, count) = (row.id, count + 1)
        }
        let spaces = try database.first("SELECT count(*) FROM key_value_space") { Int($0.integer(0)) } ?? 0
        return count + spaces
    }

    // MARK: - Documents of earlier versions

    private static func split(description json: JSON) throws -> (clear: JSON, secrets: JSON) {
        var clear = try json.storedObject()
        let (rules, keys) = try split(rules: json.required("rules"))
        clear["rules"] = rules
        var secrets: JSONObject = ["rules": keys]
        if let credentials = clear["credentials"] {
            clear["credentials"] = nil
            clear.append("platforms", .array(try credentials.storedObject().keys.map(JSON.string)))
            secrets.append("credentials", credentials)
        }
        return (.object(clear), .object(secrets))
    }

    private static func split(rules json: JSON) throws -> (clear: JSON, keys: JSON) {
        var (clear, keys): ([JSON], [JSON]) = ([], [])
        for rule in try json.storedArray() {
            var object = try rule.storedObject()
            keys.append([try rule.required("name"), try rule.required("primary"), try rule.required("secondary")])
            object["primary"] = nil
            object["secondary"] = nil
            clear.append(.object(object))
        }
        return (.array(clear), .array(keys))
    }
}
