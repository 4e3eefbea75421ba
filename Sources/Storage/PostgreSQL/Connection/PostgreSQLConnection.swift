import CPostgreSQL
import PushModel

/// A connection to the server of a database that accepts changes. Blocks the thread that uses it; used by one at a time.
///
/// Statements are prepared once. Those that return nothing are sent together with the next one that does, in one message.
final class PostgreSQLConnection {
    /// Identifies the process of the server that serves a connection.
    struct Backend: Sendable, Equatable {
        let process: Int64
        let startedAt: String
    }

    private let handle: OpaquePointer
    private let limits: PostgreSQLLimits
    /// The names of prepared statements.
    private var names: [String: String] = [:]
    private var lastName = 0
    /// Statements to be sent with the next one.
    private var pending: [PostgreSQLStatement] = []
    /// Number of statements so far that may have changed something.
    private(set) var writes = 0
    /// Number of messages so far that were answered.
    private(set) var answers = 0
    /// Whether the connection was lost, or did not answer in time.
    private(set) var isBroken = false
    private(set) var backend = Backend(process: 0, startedAt: "")

    /// Connects to the first server of an address that accepts changes.
    ///
    /// Throws the error of the last server.
    init(to address: PostgreSQLAddress, _ limits: PostgreSQLLimits) throws {
        self.limits = limits
        var found: OpaquePointer?
        var failure: any Error = PostgreSQLError.lost("it has no server")
        for server in address.servers where found == nil {
            do {
                found = try Self.dial(server, limits)
            } catch {
                failure = error
            }
        }
        guard let found else { throw failure }
        handle = found
        try setUp()
    }

    deinit { cpg_finish(handle) }

    /// Connects to one server.
    private static func dial(_ server: [PostgreSQLAddress.Parameter], _ limits: PostgreSQLLimits) throws -> OpaquePointer {
        let name = PostgreSQLAddress.name(of: server)
        let handle = withTexts(server.map(\.key)) { keys in withTexts(server.map(\.value)) { cpg_connect_start(keys, $0) } }
        guard let handle else { throw PostgreSQLError.lost("there is not enough memory") }
        do {
            var state = CPG_POLL_WRITING
            while state == CPG_POLL_READING || state == CPG_POLL_WRITING {
                let isReady = cpg_wait(cpg_socket(handle), state == CPG_POLL_READING ? 1 : 2, limits.connecting) != 0
                guard isReady else { throw PostgreSQLError.late("\(name) does not answer") }
                state = Int(cpg_connect_poll(handle))
            }
            guard state == CPG_POLL_OK else {
                if cpg_needs_password(handle) != 0 { throw PostgreSQLError(state: "28P01", message: "\(name) wants a password") }
                throw refusal(String(cString: cpg_error(handle)), by: name)
            }
            guard cpg_set_nonblocking(handle) != 0, cpg_enter_pipeline(handle) != 0 else {
                throw PostgreSQLError.lost(String(cString: cpg_error(handle)))
            }
            return handle
        } catch {
            cpg_finish(handle)
            throw error
        }
    }

    /// The error for a connection that was refused, whose text has lines like `… failed: FATAL:  28P01: password authentication failed`.
    private static func refusal(_ text: String, by server: String) -> PostgreSQLError {
        let lines = text.split(separator: "\n")
        for line in lines {
            let parts = line.split(separator: ": ").map { $0.drop { $0 == " " } }
            guard let index = parts.firstIndex(where: isState), index > 0 else { continue }
            return PostgreSQLError(state: String(parts[index]), message: parts[(index + 1)...].joined(separator: ": "))
        }
        return .lost(lines.first.map(String.init) ?? "\(server) refuses the connection")
    }

    /// Whether a part of a message is a SQLSTATE: five capital letters and digits, unlike the word for the severity.
    private static func isState(_ part: Substring) -> Bool {
        part.utf8.count == 5 && part.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) } && part.contains(where: \.isNumber)
    }

    private func setUp() throws {
        later("SET statement_timeout = \(limits.statement)")
        later("SET lock_timeout = \(limits.lock)")
        later("SET idle_in_transaction_session_timeout = \(limits.idle)")
        let process = Int64(cpg_backend(handle))
        let startedAt = try first("SELECT backend_start::text FROM pg_stat_activity WHERE pid = $1", process) { $0.text(0) }
        backend = Backend(process: process, startedAt: startedAt ?? "")
    }

    // MARK: - Statements

    /// Runs a statement and returns the number of rows that it inserted, changed or deleted.
    @discardableResult
    func run<each Value: PostgreSQLValue>(_ sql: String, _ values: repeat each Value) throws -> Int {
        writes += 1
        return try perform(PostgreSQLStatement(sql, repeat each values)).changed
    }

    /// Runs a statement together with the next one. Its error is that of the next one.
    func later<each Value: PostgreSQLValue>(_ sql: String, _ values: repeat each Value) {
        writes += 1
        pending.append(PostgreSQLStatement(sql, repeat each values))
    }

    /// Calls `read` with every row.
    func each<each Value: PostgreSQLValue>(_ sql: String, _ values: repeat each Value, read: (PostgreSQLRow) throws -> Void) throws {
        let result = try perform(PostgreSQLStatement(sql, repeat each values))
        for row in result.rows { try read(PostgreSQLRow(result: result, row: row)) }
    }

    /// The first row; nil if there is none.
    func first<Result, each Value: PostgreSQLValue>(
        _ sql: String, _ values: repeat each Value, read: (PostgreSQLRow) throws -> Result
    ) throws -> Result? {
        let result = try perform(PostgreSQLStatement(sql, repeat each values))
        return result.rows.isEmpty ? nil : try read(PostgreSQLRow(result: result, row: 0))
    }

    func all<Result, each Value: PostgreSQLValue>(
        _ sql: String, _ values: repeat each Value, read: (PostgreSQLRow) throws -> Result
    ) throws -> [Result] {
        let result = try perform(PostgreSQLStatement(sql, repeat each values))
        return try result.rows.map { try read(PostgreSQLRow(result: result, row: $0)) }
    }

    /// The rows that a changing statement returns.
    func returning<Result, each Value: PostgreSQLValue>(
        _ sql: String, _ values: repeat each Value, read: (PostgreSQLRow) throws -> Result
    ) throws -> [Result] {
        writes += 1
        return try all(sql, repeat each values, read: read)
    }

    // MARK: - Transactions

    /// Runs `body` in a transaction, which is rolled back if it throws.
    func transaction<Result>(_ mode: PostgreSQLTransaction, _ body: () throws -> Result) throws -> Result {
        begin(mode)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Begins a transaction with the next statement.
    func begin(_ mode: PostgreSQLTransaction) {
        pending.append(PostgreSQLStatement("BEGIN \(mode.rawValue)"))
        // No other transaction waits for one that only reads, and the rows of a page take their time.
        if mode == .snapshot { pending.append(PostgreSQLStatement("SET LOCAL idle_in_transaction_session_timeout = 60000")) }
    }

    /// Throws an error with `isUnknown` if the answer is missing.
    func commit() throws {
        do {
            _ = try perform(PostgreSQLStatement("COMMIT"))
        } catch var error as PostgreSQLError {
            error.isUnknown = error.endsConnection && error.state != "25006"
            throw error
        }
    }

    /// Ends a transaction without its changes. A connection on which that fails is broken.
    func rollBack() {
        pending = []
        if !isBroken { _ = try? perform(PostgreSQLStatement("ROLLBACK")) }
    }

    // MARK: - Messages

    /// Sends the pending statements and this one, and returns the result of this one.
    private func perform(_ statement: PostgreSQLStatement) throws -> PostgreSQLResult {
        let statements = pending + [statement]
        pending = []
        do {
            let result = try exchange(statements)
            answers += 1
            return result
        } catch let error as PostgreSQLError {
            if error.endsConnection { isBroken = true }
            throw error
        }
    }

    private func exchange(_ statements: [PostgreSQLStatement]) throws -> PostgreSQLResult {
        // A new statement is prepared under a name that counts only once the server has confirmed it.
        var fresh: [String: String] = [:]
        var expected: [String?] = []
        for statement in statements {
            if names[statement.sql] == nil, fresh[statement.sql] == nil {
                lastName += 1
                let name = "s\(lastName)"
                fresh[statement.sql] = name
                expected.append(statement.sql)
                try check(cpg_send_prepare(handle, name, statement.sql, Int32(statement.types.count), statement.types))
            }
            expected.append(nil)
            try check(statement.send(to: handle, as: names[statement.sql] ?? fresh[statement.sql] ?? "") ? 1 : 0)
        }
        try check(cpg_sync(handle))
        try flush()
        let results = try results(expected.count)
        for (sql, result) in zip(expected, results) {
            if let error = result.error {
                // Those after it were skipped.
                throw error
            }
            if let sql { names[sql] = fresh[sql] }
        }
        guard results.count == expected.count, let last = results.last else {
            throw PostgreSQLError.lost("the server gave \(results.count) of \(expected.count) results")
        }
        return last
    }

    /// The results up to the end of the pipeline.
    private func results(_ count: Int) throws -> [PostgreSQLResult] {
        var results: [PostgreSQLResult] = []
        // Each result is followed by the end of its statement.
        for _ in 0...(2 * count) {
            while cpg_is_busy(handle) != 0 {
                try wait(for: 1)
                guard cpg_consume(handle) != 0 else { throw broken(after: results) }
            }
            guard let next = cpg_next_result(handle) else {
                guard cpg_is_open(handle) != 0 else { throw broken(after: results) }
                continue
            }
            let result = PostgreSQLResult(next)
            if result.isSync { return results }
            results.append(result)
        }
        throw PostgreSQLError.lost("the server gave too many results")
    }

    private func flush() throws {
        while true {
            let remaining = cpg_flush(handle)
            if remaining == 0 { return }
            guard remaining > 0 else { throw broken(after: []) }
            let ready = try wait(for: 3)
            if ready & 1 != 0, cpg_consume(handle) == 0 { throw broken(after: []) }
        }
    }

    @discardableResult
    private func wait(for events: Int32) throws -> Int32 {
        let ready = cpg_wait(cpg_socket(handle), events, limits.answer)
        guard ready != 0 else { throw PostgreSQLError.late("the server does not answer") }
        return ready
    }

    private func check(_ isSent: Int32) throws {
        guard isSent != 0 else { throw broken(after: []) }
    }

    /// The reason for a lost connection: what the server has said last, if it has said something.
    private func broken(after results: [PostgreSQLResult]) -> PostgreSQLError {
        if let error = results.last?.error, error.endsConnection { return error }
        let text = String(cString: cpg_error(handle))
        return .lost(text.split(separator: "\n").first.map(String.init) ?? "the connection was lost")
    }
}

/// Calls `body` with texts as an array of C strings that ends with a null pointer.
private func withTexts<Result>(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result) -> Result {
    let bytes = texts.flatMap { Array($0.utf8CString) }
    return bytes.withUnsafeBufferPointer { buffer in
        var start = 0
        var pointers: [UnsafePointer<CChar>?] = texts.map { text in
            defer { start += text.utf8.count + 1 }
            return buffer.baseAddress.map { $0 + start }
        }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
