import GRDB
package import PushModel

/// Read-only audit trail of a database that need not be open.
package struct SQLiteAuditFile: AuditTrail {
    private let path: String

    /// - Parameter path: a server's database of this version, or a backup of one.
    package init(path: String) { self.path = path }

    /// Throws `storage.unavailable` (503).
    package func append(_ record: AuditRecord) async throws(PushError) -> AuditEntry {
        throw StorageError.unavailable("the audit log of \(path) is only read here", hint: "let the server write it")
    }

    package func entries(after sequence: Int64, limit: Int, _ filter: AuditFilter) async throws(PushError) -> [AuditEntry] {
        try await read { try SQLiteAuditTrail.entries(after: sequence, limit: limit, filter, in: $0) }
    }

    package func entries(before sequence: Int64?, limit: Int, _ filter: AuditFilter) async throws(PushError) -> [AuditEntry] {
        try await read { try SQLiteAuditTrail.entries(before: sequence, limit: limit, filter, in: $0) }
    }

    package func verify() async throws(PushError) -> AuditVerification {
        try await read { try SQLiteAuditTrail.verify(in: $0) }
    }

    private func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws(PushError) -> Value {
        try await SQLiteDatabase.blocking { [path] in
            try SQLiteFile.check(path)
            return try SQLiteFile.read(path, body)
        }.mapError { PushError($0, database: path) }.get()
    }
}
