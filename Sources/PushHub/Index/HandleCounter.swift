import PushModel

/// Counts the different handles of registrations. Needs memory only for registrations that share handles.
struct HandleCounter {
    private(set) var count = 0
    /// Rows of the shared handles that were counted.
    private var counted = RowSet()

    /// Adds rows whose data has not been cleared; each row once.
    mutating func add(_ rows: [UInt32], in columns: RegistrationColumns) {
        for row in rows {
            guard columns.traits[row].isLinked else {
                count += 1
                continue
            }
            guard counted.insert(row) else { continue }
            count += 1
            var next = columns.follower(of: row)
            while next != row {
                counted.insert(next)
                next = columns.follower(of: next)
            }
        }
    }
}
