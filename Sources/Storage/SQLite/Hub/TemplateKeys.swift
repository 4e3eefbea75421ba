import Crypto
import GRDB
import PushModel
import Synchronization

/// Finds the row of a template. A million registrations share a few templates, so each is stored once.
final class TemplateKeys: Sendable {
    private struct Description: Hashable {
        let platform: Platform
        let name: String?
        let body: String
        let headers: [PushHeader]
        let expiry: String?
        let priority: String?
    }

    /// Maximum number of cached keys. Beyond it, the memory costs more than lookups in the table.
    private static let limit = 1024

    private let known = Mutex<[Description: Int64]>([:])

    /// The key of the template's row, which is inserted if there is none. Call on the writer, within a transaction.
    func key(of template: RegistrationTemplate, in database: Database) throws -> Int64 {
        let description = Description(
            platform: template.platform, name: template.name, body: template.body, headers: template.headers,
            expiry: template.expiry, priority: template.priority)
        if let key = known.withLock({ $0[description] }) { return key }
        let content = template.storedJSON.text()
        let digest = Array(SHA256.hash(data: Array(content.utf8)))
        let find = "SELECT key FROM template WHERE digest = ?"
        var key = try database.first(find, digest) { $0.integer(0) }
        if key == nil {
            try database.run("INSERT INTO template (digest, content) VALUES (?, ?)", digest, content)
            key = database.lastInsertedRowID
        }
        guard let key else { throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "a template has no row") }
        known.withLock { known in
            if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
            known[description] = key
        }
        return key
    }

    /// Removes the row of a template without registrations. Call on the writer, within a transaction.
    func removeUnused(_ key: Int64, in database: Database) throws {
        let before = database.totalChangesCount
        try database.run(
            "DELETE FROM template WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM registration WHERE template = ?1)", key)
        guard database.totalChangesCount > before else { return }
        // SQLite may reuse the key for another template.
        known.withLock { known in
            if let rowNumber = known.firstIndex(where: { $0.value == key }) { known.remove(at: rowNumber) }
        }
    }

    /// Clears the cache after a rollback, because cached rows may not exist.
    func forget() { known.withLock { $0.removeAll() } }
}
