import GRDB
import PushCore

/// The way to a database until a backup takes the place of what it holds. Whoever came before that has other rows in mind, and
/// neither reads nor changes any of those that came instead.
struct SQLiteAccess: Sendable {
    private let database: SQLiteDatabase
    private let generation: Int

    init(_ database: SQLiteDatabase) {
        self.database = database
        generation = database.generation
    }

    var templates: TemplateKeys { database.templates }

    var seal: SecretSeal { database.seal }

    /// Makes a change; answers when it is on the disk.
    ///
    /// - Parameter size: about how much is written, in bytes; a large change lets others go first.
    func write<Value: Sendable>(
        size: Int = 0, _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws(PushError) -> Value {
        try await database.write(size: size) { [self] in
            try check()
            return try change($0)
        }
    }

    /// Reads what is committed, all of it at one moment.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws(PushError) -> Value {
        try await database.read { [self] in
            try check()
            return try body($0)
        }
    }

    private func check() throws(PushError) {
        guard database.generation == generation else {
            throw StorageError.unavailable("what was meant has gone: a backup was restored", hint: "look again, then repeat it")
        }
    }
}
