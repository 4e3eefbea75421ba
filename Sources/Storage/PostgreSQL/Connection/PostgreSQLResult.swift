import CPostgreSQL

/// The result of a statement, in PostgreSQL's binary form.
final class PostgreSQLResult {
    private let handle: OpaquePointer

    /// - Parameter handle: is freed with the result.
    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { cpg_clear(handle) }

    /// The error, if the statement failed.
    var error: PostgreSQLError? {
        let status = Int(cpg_status(handle))
        guard status != CPG_COMMAND_OK, status != CPG_TUPLES_OK else { return nil }
        return PostgreSQLError(
            state: cpg_state(handle).map { String(cString: $0) } ?? "",
            message: cpg_message(handle).map { String(cString: $0) } ?? "the server gave no reason")
    }

    /// Whether this is the end of a pipeline.
    var isSync: Bool { Int(cpg_status(handle)) == CPG_PIPELINE_SYNC }

    /// Number of rows that the statement inserted, changed or deleted.
    var changed: Int { Int(String(cString: cpg_changed(handle))) ?? 0 }

    var rows: Range<Int32> { 0..<cpg_rows(handle) }

    func isNull(_ row: Int32, _ column: Int32) -> Bool { cpg_is_null(handle, row, column) != 0 }

    /// Valid as long as the result.
    func bytes(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: cpg_value(handle, row, column), count: Int(cpg_length(handle, row, column)))
    }
}
