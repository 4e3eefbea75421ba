/// Limits of the use of a database. Times are in milliseconds.
package struct PostgreSQLLimits: Sendable {
    /// The longest wait for a server while connecting.
    var connecting: Int32 = 3_000
    /// The longest wait for any answer. The connection is given up then. Longer than `statement`, which the server checks; this one also
    /// holds for a server that is stopped or cut off, and for a standby that does not confirm.
    var answer: Int32 = 10_000
    /// The longest time of a statement.
    var statement = 8_000
    /// The longest wait for the lock of another transaction.
    var lock = 1_000
    /// After which the server ends a changing transaction of a program that has stopped.
    var idle = 5_000
    /// Number of connections for reading, besides the one for changes.
    var readers = 4
    /// Number of reads that may wait for a connection. Further ones fail at once.
    var waiting = 10_000

    package init() {}
}
