import GRDB
import PushModel

/// Access to a database until a backup is restored. Afterwards, reads and writes throw: the caller's rows may no longer be the same
/// ones.
struct SQLiteAccess: Sendable {
    private let database: SQLiteDatabase
    private let generation: Int

    init(_ database: SQLiteDatabase) {
        self.database = database
        generation = database.generation
    }

    var templates: TemplateKeys { database.templates }

    var seal: SecretSeal { database.seal }

    /// Makes a change and returns once it is on disk.
    ///
    /// - Parameter size: approximate number of bytes written; large changes yield to others.
    func write<Value: Sendable>(
        size: Int = 0, _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws(PushError) -> Value {
        try await database.write(size: size) { [self] in
            try check()
            return try change($0)
        }
    }

    /// Reads one consistent snapshot of committed data.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws(PushError) -> Value {
        try await database.read { [self] in
            try check()
            return try body($0)
        }
    }

    private func check() throws(PushError) {
        guard database.generation == generation else {
            throw StorageError.unavailable(
                "a backup was restored in the meantime: nothing was read or changed", hint: "check the restored data, then try again")
        }
    }
}
