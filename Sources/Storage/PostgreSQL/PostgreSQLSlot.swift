import PushModel

/// A connection with the thread that uses it. Connects when it is used and again after the connection was lost.
// @unchecked: only the thread uses the connection.
final class PostgreSQLSlot: @unchecked Sendable {
    private let address: PostgreSQLAddress
    private let limits: PostgreSQLLimits
    private let thread = DatabaseThreads(count: 1)
    private var connection: PostgreSQLConnection?
    /// The processes of the server behind connections that were given up. They may still hold locks and store their changes.
    private var abandoned: [PostgreSQLConnection.Backend] = []

    init(_ address: PostgreSQLAddress, _ limits: PostgreSQLLimits) {
        self.address = address
        self.limits = limits
    }

    /// Runs work on the thread of the connection, after earlier work.
    func run(_ work: @escaping @Sendable (PostgreSQLSlot) -> Void) { thread.perform { work(self) } }

    /// Calls `body` with an open connection. Only within `run`.
    func withConnection<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
        let connection = try connection ?? connect()
        defer { giveUpIfBroken(connection) }
        return try body(connection)
    }

    /// Calls `body` with an open connection, again with a new one if the connection turns out to be lost, as after a restart of the server.
    /// Not after a deadline, and not once something was answered. Only within `run`.
    func retryingLost<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
        guard let connection else { return try withConnection(body) }
        let answers = connection.answers
        do {
            return try withConnection(body)
        } catch let error as PostgreSQLError
            where connection.isBroken && connection.answers == answers && !error.isUnknown && !error.isDeadline
        {
            return try withConnection(body)
        }
    }

    private func giveUpIfBroken(_ connection: PostgreSQLConnection) {
        guard connection.isBroken else { return }
        abandoned.append(connection.backend)
        self.connection = nil
    }

    /// Closes the connection. Only within `run`.
    func disconnect() { connection = nil }

    private func connect() throws -> PostgreSQLConnection {
        let connection = try PostgreSQLConnection(to: address, limits)
        // Otherwise each deadline would leave one more process at the server, and its transaction could still be stored after the caller
        // has read that it was not.
        defer { giveUpIfBroken(connection) }
        for backend in abandoned {
            guard try !isRunning(backend, connection, ending: true) else {
                throw PostgreSQLError.lost("the server has not ended an earlier connection yet")
            }
        }
        abandoned = []
        self.connection = connection
        return connection
    }

    /// Whether a process of the server still runs.
    ///
    /// - Parameter ending: whether to end it.
    private func isRunning(_ backend: PostgreSQLConnection.Backend, _ connection: PostgreSQLConnection, ending: Bool) throws -> Bool {
        let found = try connection.first(
            """
            SELECT CASE WHEN $3 THEN pg_terminate_backend(pid::int, $4) ELSE true END FROM pg_stat_activity
            WHERE pid = $1 AND backend_start::text = $2
            """, backend.process, backend.startedAt, ending, limits.statement / 2
        ) { _ in true }
        guard found != nil, ending else { return found != nil }
        return try isRunning(backend, connection, ending: false)
    }
}
