/// The isolation of a transaction.
enum PostgreSQLTransaction: String {
    /// Sees one state of the database, as if it ran alone. Fails with a conflict if it did not.
    case change = "ISOLATION LEVEL SERIALIZABLE"
    /// Reads one state of the database.
    case snapshot = "ISOLATION LEVEL REPEATABLE READ, READ ONLY"
}
