import PushModel

/// An open PostgreSQL database: one connection for changes with group commit, and several for reading.
final class PostgreSQLDatabase: Sendable {
    /// Where it is, without the password.
    let name: String
    /// Seals and opens the secrets in the database.
    let seal: SecretSeal
    let queue: PostgreSQLChangeQueue
    let readers: PostgreSQLReaders

    /// Opens a database and creates or migrates its tables.
    ///
    /// Throws `storage.newer_schema` (500), `storage.sealed` (409) and `storage.unavailable` (503).
    init(opening address: PostgreSQLAddress, seal: SecretSeal, _ limits: PostgreSQLLimits) async throws(PushError) {
        name = address.description
        self.seal = seal
        let writer = PostgreSQLSlot(address, limits)
        queue = PostgreSQLChangeQueue(writer)
        readers = PostgreSQLReaders(address, limits)
        let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
            writer.run { [name] slot in
                let result = Result {
                    try slot.withConnection { connection in try PostgreSQLMigrator(database: name).migrate(connection, seal) }
                }
                if case .failure = result { slot.disconnect() }
                continuation.resume(returning: result)
            }
        }
        try unwrap(result)
    }

    /// Makes a change in a transaction that sees the database as if it ran alone, and returns once it is stored. May be called again if it
    /// met another transaction.
    ///
    /// - Parameter size: approximate number of bytes written.
    @discardableResult
    func write<Value: Sendable>(
        size: Int = 0, _ change: @escaping @Sendable (PostgreSQLConnection) throws -> Value
    ) async throws(PushError) -> Value {
        try unwrap(await queue.perform(size: size, change))
    }

    /// Stores a new notification.
    func accept(_ row: PostgreSQLNotificationRow) async throws(PushError) -> AcceptanceResult { try unwrap(await queue.accept(row)) }

    /// Runs statements that read, each for itself.
    func read<Value: Sendable>(_ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value) async throws(PushError) -> Value {
        try unwrap(await readers.read(body))
    }

    /// Reads one consistent state with several statements.
    func snapshot<Value: Sendable>(_ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value) async throws(PushError) -> Value {
        try unwrap(await readers.read { connection in try connection.transaction(.snapshot) { try body(connection) } })
    }

    /// Waits for changes and reads in progress.
    func close() async {
        await queue.close()
        await readers.close()
    }

    private func unwrap<Value>(_ result: Result<Value, any Error>) throws(PushError) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(let error): throw PushError(error, postgreSQL: name)
        }
    }
}
