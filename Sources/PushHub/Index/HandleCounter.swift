/// Counts the different handles of registrations. Needs one bit per row, and only if registrations share handles.
struct HandleCounter {
    private(set) var count = 0
    /// Rows of shared handles that were counted, 64 per word.
    private var counted: [UInt64] = []

    /// Adds rows whose data has not been cleared; each row once.
    mutating func add(_ rows: [UInt32], in columns: RegistrationColumns) {
        for row in rows {
            guard columns.traits[row].isLinked else {
                count += 1
                continue
            }
            guard !isCounted(row) else { continue }
            count += 1
            var next = row
            repeat {
                mark(next)
                next = columns.follower(of: next)
            } while next != row
        }
    }

    private func isCounted(_ row: UInt32) -> Bool {
        let word = Int(row >> 6)
        return word < counted.count && counted[word] >> UInt64(row & 63) & 1 == 1
    }

    private mutating func mark(_ row: UInt32) {
        let word = Int(row >> 6)
        if word >= counted.count {
            counted.append(contentsOf: repeatElement(0, count: max(word + 1, 2 * counted.count) - counted.count))
        }
        counted[word] |= 1 << UInt64(row & 63)
    }
}
