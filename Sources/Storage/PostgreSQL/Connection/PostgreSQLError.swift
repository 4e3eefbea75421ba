import PushModel

/// An error of the server or of the connection to it.
struct PostgreSQLError: Error {
    /// The SQLSTATE; empty if the connection was lost or a deadline has passed.
    var state: String
    /// What the server or the library says.
    var message: String
    /// Whether the statement that ends a transaction was sent and its answer is missing: the changes may have been stored.
    var isUnknown = false
    /// Whether the server has not answered in time.
    var isDeadline = false

    static func lost(_ message: String) -> PostgreSQLError { PostgreSQLError(state: "", message: message) }

    static func late(_ message: String) -> PostgreSQLError { PostgreSQLError(state: "", message: message, isDeadline: true) }

    /// Whether the connection cannot be used any longer: it is lost, the server ends, or it has become a standby.
    var endsConnection: Bool {
        state.isEmpty || state.hasPrefix("08") || state.hasPrefix("57P") || ["25006", "25P03"].contains(state)
    }

    /// Whether the cause is not the statement: the server, the connection, or other transactions.
    var isOfServer: Bool { isUnknown || endsConnection || isConflict || state.hasPrefix("53") || ["55P03", "57014"].contains(state) }

    /// Whether the same transaction may succeed at once: it met another one.
    var isConflict: Bool { ["40001", "40P01"].contains(state) }

    /// Whether a row with the same key is stored already.
    var isDuplicate: Bool { state == "23505" }
}

extension PushError {
    /// Converts an error of PostgreSQL into one that tells the user what to do.
    ///
    /// - Parameter address: where the database is, without its password.
    init(_ error: any Error, postgreSQL address: String) {
        if let error = error as? PushError {
            self = error
            return
        }
        guard let error = error as? PostgreSQLError else {
            self = StorageError.unavailable("the database \(address) cannot be used: \(error)", hint: "try again")
            return
        }
        let reason = error.message.asClause
        self =
            error.isUnknown
            ? StorageError.unknown(address, reason) : Self.stated(error.state, reason, address) ?? Self.failed(error.state, reason, address)
    }

    /// The errors of single states.
    private static func stated(_ state: String, _ reason: String, _ address: String) -> PushError? {
        switch state {
        case "53100":
            StorageError.unavailable(
                "cannot write to the database \(address): its disk is full", hint: "free disk space there, then try again")
        case "53300":
            StorageError.unavailable(
                "the database \(address) accepts no more connections", hint: "raise max_connections, or stop other programs")
        case "25006":
            StorageError.unavailable(
                "the database \(address) accepts no changes: the server is a standby",
                hint: "name all servers in its URL; the primary is chosen among them")
        case "3D000":
            StorageError.unavailable("there is no database \(address)", hint: "create it with createdb, or correct the name in its URL")
        case "42501":
            StorageError.unavailable(
                "the user may not use the database \(address): \(reason)", hint: "make it the owner of the database or of its schema")
        case "40001", "40P01", "55P03":
            StorageError.unavailable("the database \(address) is busy: \(reason)", hint: "try again")
        case "57014", "25P03":
            StorageError.unavailable("the database \(address) took too long: \(reason)", hint: "try again; look at its load and its locks")
        case "XX001", "XX002":
            StorageError.corrupt("the database \(address)", reason, hint: "restore a backup of the database server")
        default: nil
        }
    }

    /// The errors of classes of states.
    private static func failed(_ state: String, _ reason: String, _ address: String) -> PushError {
        switch state.prefix(2) {
        case "": StorageError.unavailable("the database \(address) cannot be reached: \(reason)", hint: "check that PostgreSQL is running")
        case "28":
            StorageError.unavailable(
                "the database \(address) refuses the login: \(reason)",
                hint: "check user and password, which may also be in PGPASSWORD or the file PGPASSFILE names, and pg_hba.conf")
        case "23": StorageError.conflict("a row cannot be stored in the database \(address): \(reason)")
        default:
            StorageError.unavailable(
                "the database \(address) cannot be used: \(reason) (\(state))",
                hint: "look at the log of the database server, then try again")
        }
    }
}

extension StorageError {
    /// For a transaction whose result is unknown.
    static func unknown(_ address: String, _ reason: String) -> PushError {
        var error = unavailable(
            "the database \(address) was lost before it confirmed a change, which may have been stored: \(reason)",
            hint: "repeat the call; sends with an idempotency key are not sent twice")
        error.details["outcome"] = "unknown"
        return error
    }
}
